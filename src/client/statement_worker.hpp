// Sends batches to the database on one connection: by the fast path, and what that leaves by the slow path.
// Every grant, release and failure of the client passes through here.
#pragma once

#include "client/fast_path.hpp"
#include "client/repeated_failures.hpp"
#include "client/session_slot.hpp"
#include "client/slow_path.hpp"
#include "client/submission_queue.hpp"
#include "client/worker_context.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace rowlock::client_layer {

// Used by one thread at a time: its own, or a caller's.
class statement_worker {
 public:
  statement_worker(worker_context& client, worker_role role, connector connect);
  // The fallback worker, which borrows the lease's connection.
  statement_worker(worker_context& client, session_slot& borrowed);

  session_slot& slot() noexcept { return slot_; }
  bool carries(worker_role asked) const noexcept {
    return role_ == worker_role::everything || role_ == asked;
  }
  void run();  // the thread's body, until the queue is stopped and empty; then the connection is closed

  // Sends one request in the caller's thread while the worker is idle, which saves two thread switches; for
  // an acquire the fast statement alone, because the rest may wait. False: it was not taken, and belongs in
  // the queue. Any thread may call it. Nothing is sent after `until`; an answer that is missing then breaks
  // the connection.
  bool run_inline(const acquire_ptr& operation);
  bool run_inline(const release_ptr& operation, instant until);

  // For the fallback worker, called by the thread that owns the connection. run_fallback() begins no
  // statement after `until`.
  void run_fallback(instant until);
  void note_connection();

 private:
  struct failed;

  bool is_replaced() const;
  bool find_connection();
  bool connect();  // false: there is none, and the log says why
  template <class Fast>
  bool run_inline(batch work, Fast fast);
  // False: it failed, and each request without an answer is retried or has failed.
  template <class Body>
  bool attempt(batch& work, Body body);
  void carry(batch& work);
  void run_tasks(std::vector<task_ptr>& tasks);
  void fail(const std::exception_ptr& cause, const error& failure, batch& work);
  void fail(const acquire_ptr& operation, const std::exception_ptr& cause, const failed& how);
  void fail(const release_ptr& operation, const std::exception_ptr& cause, const failed& how);
  void log(const error& failure, log_level level);

  worker_context& client_;
  worker_role role_;
  context& context_;
  std::mutex owner_;                        // locked by the thread that uses the worker
  std::unique_ptr<session_slot> own_slot_;  // null: slot_ is borrowed
  session_slot& slot_;
  fast_path fast_;
  slow_path slow_;
  backoff reconnect_ = reconnect_pause();
  bool noted_connection_ = false;  // as counted by the queue
  bool complained_ = false;        // the log has that it cannot connect
  repeated_failures failures_;
  int refused_alone_ = 0;  // requests that failed alone since the latest success
};

}  // namespace rowlock::client_layer
