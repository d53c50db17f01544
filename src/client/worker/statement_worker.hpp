// Sends batches to the database on one connection: first on the fast path, then on the slow path what the
// fast path has left undone. Every grant, release and failure of the client passes through here.
#pragma once

#include "client/base/repeated_failures.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/submission_queue.hpp"
#include "client/worker/fast_path.hpp"
#include "client/worker/slow_path.hpp"
#include "client/worker/worker_services.hpp"
#include "model/annotated_mutex.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rowlock::client_layer {

// Used by one thread at a time: its own, or a caller's.
class statement_worker {
 public:
  statement_worker(worker_services& client, worker_role role, connector connect);
  // The fallback worker, which borrows the lease's connection.
  statement_worker(worker_services& client, session_slot& borrowed);

  session_slot& slot() noexcept { return slot_; }
  bool carries(worker_role asked) const noexcept {
    return role_ == worker_role::everything || role_ == asked;
  }
  // The thread's body, until the queue is stopped and empty; then it closes the connection.
  void run() noexcept;

  // Sends one request in the caller's thread while the worker is idle, which saves two thread switches. For an
  // acquire it sends only the fast statement, because the rest may wait; with an explicit ttl it sends the edit, which
  // waits for no row either, because no fast statement comes first. False: the worker does not carry such
  // requests or is not idle, so the request belongs in the queue. Any thread may call it. Nothing is sent after
  // `until`; an answer that is missing then breaks the connection.
  bool run_inline(const acquire_ptr& operation);
  bool run_inline(const release_ptr& operation, instant until) noexcept;

  // For the fallback worker. run_fallback() begins no statement after `until`. Both are unchecked: the thread that
  // owns the connection calls them, and no other thread uses this worker, so it does not lock owner_.
  void run_fallback(instant until) ROWLOCK_UNCHECKED;
  void note_connection() ROWLOCK_UNCHECKED { count_connection(); }

 private:
  struct failed;

  bool is_replaced() const;
  bool go_on();  // false: the queue was stopped, and nothing is left
  bool find_connection();
  bool connect();  // false: there is none, and the log says why
  // If the body fails, each request without an answer leaves the batch: it is retried or has failed.
  template <class Body>
  void attempt(batch& work, Body body) noexcept ROWLOCK_REQUIRES(owner_);
  void count_connection() ROWLOCK_REQUIRES(owner_);
  // Unchecked: no other thread uses a worker that has no connection.
  std::chrono::nanoseconds pause_without_connection() ROWLOCK_UNCHECKED { return reconnect_.next(); }
  void carry(batch& work) ROWLOCK_REQUIRES(owner_);
  void run_tasks(std::vector<task_ptr>& tasks) ROWLOCK_REQUIRES(owner_);
  // Runs the work of one task, or of several that share it, and answers each. False: the work of several has failed,
  // perhaps because of one of them. Then nothing has been done, and none of them is answered.
  bool run(std::span<const task_ptr> tasks, const std::function<void()>& work) ROWLOCK_REQUIRES(owner_);
  // False: the task's caller has given up. failure: null if the task has succeeded.
  static bool answer(task_operation& task, const std::exception_ptr& failure) noexcept;
  // failure: null if memory ran out.
  void fail(const std::exception_ptr& cause, const error* failure, batch& work) noexcept
      ROWLOCK_REQUIRES(owner_);
  void fail(const acquire_ptr& operation, const std::exception_ptr& cause, const failed& how) noexcept
      ROWLOCK_REQUIRES(owner_);
  void fail(const release_ptr& operation, const std::exception_ptr& cause, const failed& how) noexcept
      ROWLOCK_REQUIRES(owner_);
  void submit_again(const task_ptr& task) noexcept;
  void log(const error* failure, log_level level) noexcept ROWLOCK_REQUIRES(owner_);

  worker_services& client_;
  worker_role role_;
  client_environment& environment_;
  model::annotated_mutex owner_;            // locked by the thread that uses the worker
  std::unique_ptr<session_slot> own_slot_;  // null: slot_ is borrowed
  session_slot& slot_;                      // any thread may ask it whether it is connected
  fast_path fast_ ROWLOCK_GUARDED_BY(owner_);
  slow_path slow_ ROWLOCK_GUARDED_BY(owner_);
  backoff reconnect_ ROWLOCK_GUARDED_BY(owner_) = reconnect_pause();
  bool noted_connection_ ROWLOCK_GUARDED_BY(owner_) = false;  // as last told to the queue
  bool complained_ ROWLOCK_GUARDED_BY(owner_) = false;        // the log already says that it cannot connect
  repeated_failures failures_ ROWLOCK_GUARDED_BY(owner_);
};

}  // namespace rowlock::client_layer
