// What callers ask for, on its way through the queue and the workers.
#pragma once

#include "client/acquire_progress.hpp"
#include "client/backoff.hpp"
#include "client/hold_state.hpp"
#include "client/ids_in_use.hpp"
#include "client/time_source.hpp"
#include "model/lock.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// One failure may end many waits: each waiter is thrown an object of its own, which no other thread touches.
inline error copy_of(const error& failure) {
  return {failure.code(), failure.what(), failure.database_code(), failure.outcome_unknown()};
}

inline error copy_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const error& known) {
    return copy_of(known);
  } catch (const std::exception& unknown) {
    return {errc::internal, unknown.what()};
  }
}

// The name is another lock than it was asked for (I11).
inline error mismatch(const model::lock_definition& asked, const model::lock_definition& stored) {
  const auto described = [](const model::lock_definition& lock) {
    const std::string what{to_string(lock.kind)};
    const auto kind = !lock.fair ? "an unfair " + what : (what.starts_with('e') ? "an " : "a ") + what;
    // Who uses one of the others has never said a capacity, nor seen one.
    const auto usual = lock.kind == model::lock_kind::shared_mutex ? model::shared_mutex_capacity : 1;
    switch (lock.kind) {
      case model::lock_kind::semaphore: return fmt::format("{} with {} permits", kind, lock.capacity);
      case model::lock_kind::latch: return fmt::format("{} that counts {}", kind, lock.capacity);
      case model::lock_kind::barrier: return fmt::format("{} of {} members", kind, lock.capacity);
      default: return lock.capacity == usual ? kind : fmt::format("{} of capacity {}", kind, lock.capacity);
    }
  };
  return {errc::mismatch,
          fmt::format("\"{}\" is stored as {}, and was asked for as {}: use it as it is stored, or "
                      "another name",
                      asked.name, described(stored), described(asked))};
}

// Whoever would not wait for a holder still waits for the database, that long.
inline error no_answer(std::chrono::nanoseconds within) {
  return {errc::unreachable,
          fmt::format("the database gave no answer within {} ms",
                      std::chrono::duration_cast<std::chrono::milliseconds>(within).count())};
}

// Of a barrier: those who waited together go apart again.
inline error broken(const std::string& name) {
  return {errc::broken_barrier, "a member of this generation of \"" + name +
                                    "\" died or gave up before all had arrived; agree what to do, and arrive "
                                    "again"};
}

// The caller's side: a result that arrives once, which the caller may cease to wait for.
template <class Result>
class promised {
 public:
  // False when the caller has given up, or was answered before: then the result is nobody's.
  bool complete(Result result) {
    return store_result([&] { result_ = std::move(result); });
  }
  bool fail(const std::exception_ptr& failure) {
    return store_result([&] { failure_ = copy_of(failure); });
  }

  bool is_complete() const {
    const std::lock_guard lock{mutex_};
    return complete_;
  }

  // Called once when it is settled, by whoever does that, not under this mutex: for a caller whose thread
  // does not wait. Set before the operation is shared. Dropped when the caller gives up.
  void on_complete(std::function<void()> next) { next_ = std::move(next); }
  // Whether the caller gave up before it was settled.
  bool is_given_up() const {
    const std::lock_guard lock{mutex_};
    return given_up_;
  }
  // True: nobody waits any more, and no result will come. False: it was settled before.
  bool give_up() {
    std::function<void()> dropped;
    const std::lock_guard lock{mutex_};
    dropped.swap(next_);
    given_up_ = given_up_ || !complete_;
    return !std::exchange(complete_, true);
  }
  // Why there is no result yet, in case the caller gives up; null: no reason is known any more.
  void note_failure(const std::exception_ptr& reason) {
    const std::lock_guard lock{mutex_};
    last_failure_ = reason ? std::optional{copy_of(reason)} : std::nullopt;
  }
  std::optional<error> last_failure() const {
    const std::lock_guard lock{mutex_};
    return last_failure_;
  }
  // What it was settled with, once; as wait() gives it.
  std::optional<Result> take() {
    const std::lock_guard lock{mutex_};
    if (failure_) throw copy_of(*failure_);
    return std::exchange(result_, {});
  }

  // Waits until then, or until stop is requested. Empty: the caller has given up, and no result will come.
  std::optional<Result> wait(time_source& time, std::optional<instant> then,
                             const std::stop_token& stop = {}) {
    return wait(time, then, stop, true);
  }
  // The same for a caller who goes on waiting: a result may come yet.
  std::optional<Result> wait_a_while(time_source& time, std::optional<instant> then,
                                     const std::stop_token& stop) {
    return wait(time, then, stop, false);
  }

 private:
  std::optional<Result> wait(time_source& time, std::optional<instant> then, const std::stop_token& stop,
                             bool gives_up) {
    std::stop_callback on_stop{stop, [this] {
                                 const std::lock_guard lock{mutex_};
                                 changed_.notify_one();
                               }};
    std::unique_lock lock{mutex_};
    while (!complete_ && !stop.stop_requested() && (!then || time.now() < *then)) {
      if (then) {
        time.wait_until(lock, changed_, *then);
      } else {
        changed_.wait(lock);
      }
    }
    if (!complete_) {
      complete_ = given_up_ = gives_up;
      return {};
    }
    if (failure_) throw copy_of(*failure_);
    return std::move(result_);
  }

  template <class Store>
  bool store_result(Store store) {
    std::function<void()> next;
    {
      const std::lock_guard lock{mutex_};
      if (complete_) return false;
      complete_ = true;
      store();
      next.swap(next_);
    }
    // Not under the mutex: the woken thread would only run into it. Whoever settles keeps the operation
    // alive.
    changed_.notify_one();
    if (next) next();
    return true;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool complete_ = false;
  bool given_up_ = false;
  std::optional<Result> result_;
  std::optional<error> failure_;
  std::optional<error> last_failure_;
  std::function<void()> next_;
};

// When an operation whose row is locked, or whose statement failed, comes up again. Each pause grows until
// that has ended for which it is.
struct retry_state {
  // What keeps a row locked for longer, and is no holder, is told to who asks for the lock.
  static constexpr std::chrono::milliseconds row_lock_limit{800};

  bool is_locked_out(instant now) const { return locked_since && now > *locked_since + row_lock_limit; }

  backoff row = row_probe();
  std::optional<instant> locked_since{};  // the row was locked whenever it was tried since then
  bool looked = false;                    // since then it was read who holds the lock
  backoff again = failure_pause();
  int failures = 0;    // in a row
  bool alone = false;  // a batch failed that it was part of: it is sent in one of its own
};

// Whoever would be granted the lock finds its row locked, and not by a holder.
inline error row_is_locked(const std::string& name) {
  return {errc::contention,
          fmt::format(
              "\"{}\" could be granted, but another transaction has kept its row locked for {} ms: end that "
              "transaction, or wait for it",
              name, retry_state::row_lock_limit.count())};
}

// Asks for a lock. A grant is a hold_state; busy is null.
struct acquire_operation {
  model::lock_definition definition;
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;  // of a shared request, and of what it was granted
  bool everything = false;  // all that is free, see acquire_terms
  bool wait = false;
  std::optional<std::chrono::milliseconds> ttl;  // explicit
  std::chrono::milliseconds min_hold{0};

  model::hold_id hold = model::hold_id::random();
  ids_in_use::mark in_use{};
  std::shared_ptr<client_layer::lease> lease;  // on which it was sent; null: never sent
  std::uint64_t checks = 0;                    // see hold_registry::add
  acquire_progress progress{};
  bool contended = false;            // others waited when it was granted
  std::atomic<bool> leaving{false};  // its caller waits no longer, and wants to know what became of it
  retry_state retry{};
  backoff guarded = guarded_pause();
  instant
      not_before{};  // no poll has it ask again before: a guarded transaction keeps the row of a dead holder
  promised<std::shared_ptr<hold_state>> answer{};

  // Whether others about the same name may go along in one edit: those of a lock that many hold at once. Not
  // one that may stand in the queue, of which an edit reads one row a name.
  bool joins() const {
    return model::is_shareable(definition.kind) && !progress.was_queued() && !progress.is_in_doubt();
  }
  // As a new request, by a new hold id: nothing of the earlier one is claimed any more.
  void begin_anew() {
    hold = hold.sibling();
    lease.reset();
    contended = false;
    progress.restart();
  }
  // What a caller is told whose time runs out. Not once the database has shown that somebody else has the
  // lock: then it is busy.
  void note_failure(const std::exception_ptr& reason) {
    if (!progress.was_queued()) answer.note_failure(reason);
  }
};

// Takes something away from a lock, again and again until the database has said what became of it.
struct release_operation {
  enum class aim : std::uint8_t {
    release,  // this hold's grant, or its place in the queue
    force,    // everybody's grant, or that hold's alone
    sweep,    // what the dead have
  };

  std::string name;
  model::lock_kind kind = model::lock_kind::unknown;    // of a hold that is released
  model::lock_mode mode = model::lock_mode::exclusive;  // likewise
  aim purpose = aim::release;
  model::hold_id hold{};  // of release; of force, unless it is nil
  ids_in_use::mark in_use{};
  model::token upto =
      std::numeric_limits<model::token>::max();  // of force: holds with later tokens are not meant
  bool was_held = false;                         // a caller had it
  bool is_orphan = false;  // nobody has: only what stands on that very lease is given back
  std::shared_ptr<client_layer::lease> lease{};
  store::durability how = store::durability::asynchronous;
  instant keep_until{};  // nobody else has it before
  bool fair = true;
  bool is_pending_sweep = false;  // a sweep for those who wait for an unfair lock
  bool fast = false;              // the fast path is worth a try
  bool try_hand_over = false;     // so is a hand-over without an edit, when the fast path did not free it
  bool in_doubt = false;          // it was sent, and the answer was lost: it may have happened
  retry_state retry{};
  std::shared_ptr<promised<release_result>> answer{};  // null: nobody waits

  // As acquire_operation::joins: of a hold that was granted, and so is in no queue. What is taken back from
  // who gave up may stand there; no mode is said of that.
  bool joins() const { return purpose == aim::release && mode == model::lock_mode::shared; }
};

// Takes what the dead have, and grants to who waits.
inline std::shared_ptr<release_operation> sweep_of(std::string name) {
  auto sweep = std::make_shared<release_operation>();
  sweep->name = std::move(name);
  sweep->purpose = release_operation::aim::sweep;
  return sweep;
}

// Runs with a worker's session, for what is no matter of one name. Not retried, and not begun when its caller
// has given up.
struct task_operation {
  std::function<void(store::session&)> work;
  std::function<void()> undo;  // when the caller gave up while it ran
  promised<bool> answer{};
};

}  // namespace rowlock::client_layer
