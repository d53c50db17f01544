// What callers ask for, on its way through the queue and the lanes.
#pragma once

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
    return settle([&] { result_ = std::move(result); });
  }
  bool fail(const std::exception_ptr& failure) {
    return settle([&] { failure_ = copy_of(failure); });
  }

  bool is_settled() const {
    const std::lock_guard lock{mutex_};
    return settled_;
  }

  // Called once when it is settled, by whoever does that, not under this mutex: for a caller whose thread
  // does not wait. Set before the operation is shared. Dropped when the caller gives up.
  void when_settled(std::function<void()> next) { next_ = std::move(next); }
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
    given_up_ = given_up_ || !settled_;
    return !std::exchange(settled_, true);
  }
  // Why there is no result yet, in case the caller gives up; null: no reason is known any more.
  void excuse(const std::exception_ptr& reason) {
    const std::lock_guard lock{mutex_};
    excuse_ = reason ? std::optional{copy_of(reason)} : std::nullopt;
  }
  std::optional<error> excuse() const {
    const std::lock_guard lock{mutex_};
    return excuse_;
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
    while (!settled_ && !stop.stop_requested() && (!then || time.now() < *then)) {
      if (then) {
        time.wait_until(lock, changed_, *then);
      } else {
        changed_.wait(lock);
      }
    }
    if (!settled_) {
      settled_ = given_up_ = gives_up;
      return {};
    }
    if (failure_) throw copy_of(*failure_);
    return std::move(result_);
  }

  template <class Store>
  bool settle(Store store) {
    std::function<void()> next;
    {
      const std::lock_guard lock{mutex_};
      if (settled_) return false;
      settled_ = true;
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
  bool settled_ = false;
  bool given_up_ = false;
  std::optional<Result> result_;
  std::optional<error> failure_;
  std::optional<error> excuse_;
  std::function<void()> next_;
};

// When an operation whose row is locked, or whose statement failed, comes up again. Each pause grows until
// that has ended for which it is.
struct retry_state {
  // What keeps a row locked for longer, and is no holder, is told to who asks for the lock.
  static constexpr std::chrono::milliseconds patience_with_a_row{800};

  bool is_locked_out(instant now) const { return locked_since && now > *locked_since + patience_with_a_row; }

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
              name, retry_state::patience_with_a_row.count())};
}

// Asks for a lock. A grant is a hold_state; busy is null.
struct acquire_operation {
  model::lock_definition definition;
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;  // of a shared request, and of what it was granted
  bool everything = false;  // all that is free, see acquire_wish
  bool wait = false;
  std::optional<std::chrono::milliseconds> ttl;  // explicit
  std::chrono::milliseconds min_hold{0};

  model::hold_id hold = model::hold_id::random();
  ids_in_use::mark in_use{};
  std::shared_ptr<client_layer::lease> lease;  // on which it was sent; null: never sent
  std::uint64_t checks = 0;                    // see hold_registry::add
  bool tried = false;                          // the fast path has been tried
  bool slow = false;       // the fast path cannot tell: an answer was lost, or it has been in the queue
  bool in_flight = false;  // in a statement that has not been answered
  bool in_doubt = false;   // an answer was lost: it may have been granted, or stand in the queue
  bool contended = false;  // it was granted before others who wait
  bool arrived = false;    // it has stood in the database's queue
  std::atomic<bool> leaving{false};  // its caller waits no longer, and wants to know what became of it
  retry_state retry{};
  backoff guarded = guarded_pause();
  instant
      not_before{};  // no poll has it ask again before: a guarded transaction keeps the row of a dead holder
  promised<std::shared_ptr<hold_state>> answer{};

  // Whether others about the same name may go along in one edit: those of a lock that many hold at once. Not
  // one that may stand in the queue, of which an edit reads one row a name.
  bool joins() const { return model::is_shareable(definition.kind) && !arrived && !in_doubt; }
  // What a caller is told whose time runs out. Not once the database has shown that somebody else has the
  // lock: then it is busy.
  void excuse(const std::exception_ptr& reason) {
    if (!arrived) answer.excuse(reason);
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
  bool rung = false;      // a sweep for those who wait for an unfair lock
  bool fast = false;      // the fast path is worth a try
  bool hand_on = false;   // so is a hand-over without an edit, when the fast path did not free it
  bool in_doubt = false;  // it was sent, and the answer was lost: it may have happened
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

// Runs with a lane's session, for what is no matter of one name. Not retried, and not begun when its caller
// has given up.
struct task_operation {
  std::function<void(store::session&)> work;
  std::function<void()> undo;  // when the caller gave up while it ran
  promised<bool> answer{};
};

}  // namespace rowlock::client_layer
