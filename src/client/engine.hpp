// A client's parts put together: what stands behind rowlock::client.
#pragma once

#include "client/async_waiters.hpp"
#include "client/completions.hpp"
#include "client/context.hpp"
#include "client/deadlock_search.hpp"
#include "client/detached_threads.hpp"
#include "client/dialer.hpp"
#include "client/hold_registry.hpp"
#include "client/lease_keeper.hpp"
#include "client/loss_notifier.hpp"
#include "client/reconciliation.hpp"
#include "client/statement_worker.hpp"
#include "client/submission_queue.hpp"
#include "client/task_executor.hpp"
#include "client/thread_entries.hpp"
#include "client/waiter_registry.hpp"
#include "client/watchdog.hpp"

#include <rowlock/client.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::client_layer {

// Gives the database to connect to, at each connection. Called by one thread at a time.
using database_source = std::function<std::shared_ptr<store::database>()>;

// How long an acquire may wait: for ever, not at all, or that long.
struct wait_limit {
  bool waits = true;
  std::optional<std::chrono::nanoseconds> limit{};
};

// What hold::guard_statement gives for holds of one mode.
struct guard_text {
  std::string sql;
  std::string write;
};

// What an acquire asks for besides the name.
struct demand {
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;
  bool everything = false;  // all that is free, without waiting
};

// Thread-safe. Shared by the client's handles, its holds and its threads.
class engine : public std::enable_shared_from_this<engine> {
 public:
  // Checks the settings and connects once. Throws as rowlock::connect does.
  static std::shared_ptr<engine> open(database_source source, const options& settings, time_source& time);

  engine(database_source source, const options& settings, time_source& time);
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine();

  context& shared() noexcept { return context_; }
  const guard_text& guard(model::lock_mode mode) const noexcept {
    return mode == model::lock_mode::shared ? shared_guard_ : exclusive_guard_;
  }
  thread_entries& entries() noexcept { return entries_; }

  // Throws error(closed) or error(forked).
  void check_usable() const;
  void check_may_write() const;  // throws error(read_only)
  bool is_forked() const noexcept;
  // Throws error(invalid_argument) where the client would have more holds than options::margin suffices for.
  void check_room(std::size_t wanted = 1) const;

  // Null: busy, the time is up, or a limited wait was stopped. Throws as mutex::acquire does.
  hold_ptr acquire(const model::lock_definition& definition, const wait_limit& how_long,
                   const acquire_options& how, const demand& what = {});
  release_result release(hold_state& hold);
  // All at once: in one statement where they are held exclusively and nobody waits. Result i is hold i's.
  std::vector<release_result> release(std::span<const hold_ptr> holds);

  // The two halves of acquire(), for those who ask several clients at once. await_acquire(): empty when it
  // was given up; then whatever it is granted later is given back.
  acquire_ptr begin_acquire(const model::lock_definition& definition, bool waits, const acquire_options& how,
                            const demand& what = {});
  std::optional<hold_ptr> await_acquire(const acquire_ptr& operation, std::optional<instant> until,
                                        const std::stop_token& stop);
  // Those of release(). Null: it was over before.
  std::shared_ptr<promised<release_result>> begin_release(hold_state& hold);
  // While there is no connection all have one deadline, a close_timeout after the first began to wait.
  release_result await_release(const std::shared_ptr<promised<release_result>>& answer, instant until);

  // Arrives at a barrier, waits for the others, and returns the number of the generation that is complete.
  // Empty: the time is up, or a limited wait was stopped; then the generation is broken. Throws as
  // barrier::arrive_and_wait does.
  std::optional<model::token> arrive(const model::lock_definition& definition, const wait_limit& how_long,
                                     const std::stop_token& stop);

  // Lets that much time pass. False: there was none to pass, or stop was requested.
  bool sleep(std::chrono::nanoseconds length, const std::stop_token& stop);

  // Forces or sweeps a lock; the answer as the database gave it.
  // only: of a force, the one hold that is meant; nil: all.
  release_result change(const std::string& name, release_operation::aim purpose,
                        std::chrono::nanoseconds patience, model::hold_id only = {});

  // Everything else that is asked of the database.
  task_executor& tasks() noexcept { return tasks_; }

  void close() noexcept;

  // What transfer.cpp works with. hold_of: null when the lease is over. checks: of before it was asked for,
  // see hold_registry::add.
  hold_ptr hold_of(model::hold_id id, const outcome& taken, const std::shared_ptr<lease>& lease,
                   std::uint64_t checks);
  void forget(hold_state& hold);  // it is another's
  void withdraw(const std::string& name, model::hold_id hold, const std::shared_ptr<lease>& lease);

  // News of offices; see lease_keeper.
  lease_keeper& keeper() noexcept { return keeper_; }

  // What joint_acquire works with.
  worker_context& parts() noexcept { return parts_; }
  hold_registry& holds() noexcept { return holds_; }
  void start_keeper();

  // What async_acquire works with: the parts of acquire(). The first sends nothing, and throws what cannot be
  // right.
  struct prepared;
  prepared prepare(const model::lock_definition& definition, const wait_limit& how_long,
                   const acquire_options& how, const demand& what) const;
  // The caller has given up: whatever the operation has, or is granted later, is given back.
  void abandon(const acquire_operation& operation);
  // What a wait without an answer gives.
  // What the caller is told who has given up: an operation that was not even found to be taken throws why.
  hold_ptr result_without_answer(const acquire_operation& operation, const wait_limit& how_long,
                                 const std::stop_token& stop) const;
  // Of those who wait without a thread. start_async() throws error(closed).
  async_waiters& start_async();
  async_waiters& async() noexcept { return async_; }
  // A deadline may have come nearer.
  void check_deadlines() { watchdog_->check_again(); }

 private:
  std::shared_ptr<store::database> read_source();
  std::unique_ptr<store::session> connect_to(std::shared_ptr<store::database> database);
  // spare: what open() has made for whoever asks, at first.
  std::unique_ptr<store::session> connect(std::unique_ptr<store::session>* spare);
  hold_ptr make_hold(const acquire_operation& operation, model::token token);
  void start_workers();
  // Once each: what a first try has started is not started again by the next.
  void start_thread(std::string_view role, const char* name, std::function<void()> body,
                    detached_threads* among = nullptr);
  hold_ptr await_or_deadlock(const acquire_ptr& operation, std::uint64_t owner, std::optional<instant> until,
                             const std::stop_token& stop);
  bool is_connected() const;
  instant end_of_outage();
  bool is_fast_release(const hold_state& hold) const;
  release_ptr release_of(const hold_state& hold);
  release_ptr operation_of(hold_state& hold);  // null: it is over
  void release_holds();
  void release_everything(instant until);
  void end_everything() noexcept;

  database_source source_;
  context context_;
  guard_text exclusive_guard_;
  guard_text shared_guard_;
  const int pid_;

  submission_queue queue_;
  waiter_registry waiters_;
  async_waiters async_;
  hold_registry holds_;
  recent_releases releases_;
  completions completions_;
  loss_notifier loss_notifier_;
  lease_keeper keeper_;
  reconciliation reconcile_;
  recently_contended contended_;
  pending_sweeps pending_sweeps_;
  worker_context parts_;
  task_executor tasks_;
  deadlock_search deadlocks_;
  thread_entries entries_;
  std::vector<std::unique_ptr<statement_worker>> workers_;
  statement_worker fallback_;
  std::unique_ptr<watchdog> watchdog_;

  std::mutex source_mutex_;
  std::mutex spare_mutex_;
  std::unique_ptr<store::session> spare_for_keeper_;  // made by open(), as the other one
  std::unique_ptr<store::session> spare_for_worker_;

  std::mutex start_mutex_;
  std::atomic<bool> workers_started_{false};
  std::atomic<bool> keeper_started_{false};
  std::atomic<bool> async_started_{false};
  std::atomic<bool> closed_{false};
  std::set<std::string, std::less<>> started_;        // roles of threads
  std::atomic<instant> outage_ends_{instant::max()};  // how long releases wait for a connection
  detached_threads threads_;
  dialer dialer_{context_};
  detached_threads log_thread_;
};

struct engine::prepared {
  acquire_ptr operation;
  std::optional<instant> until;
};

// What a rowlock::client holds: closes the engine when the last handle goes.
std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine);

}  // namespace rowlock::client_layer
