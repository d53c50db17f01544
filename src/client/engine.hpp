// The implementation of rowlock::client: the parts of a client put together. call.hpp has the calls that a
// program makes.
#pragma once

#include "client/base/async_waiters.hpp"
#include "client/base/client_environment.hpp"
#include "client/base/detached_threads.hpp"
#include "client/base/errors.hpp"
#include "client/connection/connection_source.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/loss_notifier.hpp"
#include "client/core/reconciliation.hpp"
#include "client/core/submission_queue.hpp"
#include "client/core/thread_entries.hpp"
#include "client/core/waiter_registry.hpp"
#include "client/keeper/lease_keeper.hpp"
#include "client/keeper/watchdog.hpp"
#include "client/worker/deadlock_search.hpp"
#include "client/worker/hold_releaser.hpp"
#include "client/worker/statement_worker.hpp"
#include "client/worker/task_executor.hpp"
#include "client/worker/worker_services.hpp"
#include "model/annotated_mutex.hpp"

#include <rowlock/client.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// What hold::guard_statement returns for holds of one mode.
struct guard_text {
  std::string sql;
  std::string write;
};

// Thread-safe. Shared by the client's handles, its holds and its threads.
class engine : public std::enable_shared_from_this<engine> {
 public:
  // Checks the settings and connects. Throws as rowlock::connect does.
  static std::shared_ptr<engine> open(database_source source, const options& settings, time_source& time);

  engine(database_source source, const options& settings, time_source& time);
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine();

  // ---- lifecycle ----

  // Throws error(closed) or error(forked).
  void check_usable() const;
  void check_process() const;    // throws error(forked); waits for no mutex
  void check_may_write() const;  // throws error(read_only)
  bool is_forked() const noexcept;
  // Room for that many holds more. Throws error(invalid_argument) if options::margin does not allow so many.
  [[nodiscard]] hold_room::place take_room(std::size_t wanted = 1) const;
  // Checks that the client is usable and may write, and starts its workers.
  void begin_work();
  // Checks that the client may write, and starts its workers and the lease keeper's thread.
  void start_keeper();
  // Pauses. Returns false if there was no time left or stop was requested. Throws error(closed).
  bool sleep(std::chrono::nanoseconds length, const std::stop_token& stop);
  // Starts the thread that calls executors. Throws error(closed).
  async_waiters& start_async();

  void close() noexcept;

  // A handle that keeps the client open (closing_handle.hpp). Null if none is left, or there never was one.
  std::shared_ptr<engine> handle() const noexcept { return handle_.lock(); }
  void attach(const std::shared_ptr<engine>& handle) noexcept { handle_ = handle; }

  // ---- parts ----

  client_environment& environment() noexcept { return environment_; }
  const guard_text& guard(model::lock_mode mode) const noexcept {
    return mode == model::lock_mode::shared ? shared_guard_ : exclusive_guard_;
  }
  worker_services& services() noexcept { return services_; }
  task_executor& tasks() noexcept { return tasks_; }
  deadlock_search& deadlocks() noexcept { return deadlocks_; }
  hold_releaser& releaser() noexcept { return releaser_; }
  const worker_list& workers() const noexcept { return workers_; }
  hold_registry& holds() noexcept { return holds_; }
  waiter_registry& waiters() noexcept { return waiters_; }
  lease_keeper& keeper() noexcept { return keeper_; }
  async_waiters& async() noexcept { return async_; }
  thread_entries& entries() noexcept { return entries_; }
  // Call this when a deadline may have moved closer.
  void check_deadlines() { watchdog_->check_again(); }

 private:
  void connect_first();
  void make_workers(int count);
  void start_workers();
  void keep_lease() noexcept;  // the body of the lease keeper's thread
  void release_holds() noexcept;
  void release_everything(instant until) noexcept;
  void end_everything() noexcept;

  client_environment environment_;
  hold_room room_;
  guard_text exclusive_guard_;
  guard_text shared_guard_;
  connection_source source_;
  keeper_agenda agenda_;
  submission_queue queue_{environment_, agenda_};
  waiter_registry waiters_;
  async_waiters async_;
  hold_registry holds_{agenda_};
  recent_releases releases_;
  recently_contended contended_;
  request_settler settler_;
  loss_notifier loss_notifier_;
  lease_keeper keeper_;
  reconciliation reconcile_;
  worker_services services_;
  task_executor tasks_;
  deadlock_search deadlocks_;
  worker_list workers_;
  hold_releaser releaser_;
  thread_entries entries_;
  statement_worker fallback_;
  std::unique_ptr<watchdog> watchdog_;

  std::weak_ptr<engine> handle_;  // set before a second thread can know this object
  model::annotated_mutex start_mutex_;
  std::atomic<bool> workers_started_{false};
  std::atomic<bool> keeper_started_{false};
  std::atomic<bool> async_started_{false};
  std::atomic<bool> closed_{false};
  // No thread starts once close() has begun to wait for the threads.
  detached_threads threads_ ROWLOCK_GUARDED_BY(start_mutex_);
  detached_threads log_thread_ ROWLOCK_GUARDED_BY(start_mutex_);
};

}  // namespace rowlock::client_layer
