// Locks over HTTP: acquire, renew and release, for programs that have neither a driver nor a connection to the database.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/acquire_body.hpp"
#include "serve/database.hpp"
#include "serve/http.hpp"
#include "serve/http_holds.hpp"
#include "serve/recent_holds.hpp"
#include "serve/router.hpp"
#include "serve/workers.hpp"

#include <rowlock/async.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>

namespace rowlock::serve {

// The API keeps only the requests that it has not answered, and hints about the latest holds. Granted holds are rows of
// the database alone (http_holds.hpp), so a client may go on with another process at any time.
class lock_api {
 public:
  explicit lock_api(database& db);  // outlives the object
  // Requires: the server has stopped, and the database is closed. Waits for what is under way.
  ~lock_api();
  lock_api(const lock_api&) = delete;
  lock_api& operator=(const lock_api&) = delete;

  void add_routes(router& to);

 private:
  // An acquire that is under way, for one key. It is in the map until it is answered or given up, and each of its steps
  // keeps it: a job of the pool, or the wait in the queue.
  class attempt;
  using attempt_ptr = std::shared_ptr<attempt>;

  void acquire(const request& from, const reply& to);
  // Null if the request has joined an attempt that is under way, or was answered.
  attempt_ptr begin(const http_hold_key& key, const acquire_body& body, const reply& to);
  void watch(const attempt_ptr& one, const reply& to, unsigned number);
  // Ends the wait of the attempt, unless a later request than `number` has joined it. number 0: ends the wait in any
  // case. False: the wait goes on, or has ended with a grant.
  bool give_up(const attempt_ptr& one, unsigned number);
  // False: the attempt has been answered, and the step is not run.
  bool run_afterwards(const attempt_ptr& one, std::function<void()> step);
  void ask(const attempt_ptr& one);
  // Whether the client has the hold already, and was answered.
  bool has_it(const attempt_ptr& one);
  void try_for(const attempt_ptr& one, std::chrono::milliseconds wait);
  void end(const attempt_ptr& one, std::chrono::milliseconds waited, acquired got);
  void grant(const attempt_ptr& one, hold held);
  void answer(attempt& one, response with);
  void forget(const attempt& one) ROWLOCK_REQUIRES(mutex_);
  void release_hold(const request& from, const reply& to);

  // Runs a step on a pool. What it throws is the answer.
  void post(const attempt_ptr& one, std::function<void()> step);
  void post(workers& by, const reply& to, std::function<response()> make);

  database& db_;
  recent_holds recent_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::map<http_hold_key, attempt_ptr> attempts_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t alive_ ROWLOCK_GUARDED_BY(mutex_) = 0;  // attempts, also those that are not in the map any more
  // The last members, because their threads use the others. An acquire or a release may wait for a lock's row, which a
  // transaction of the application's keeps; renewals must not wait behind them.
  workers acquiring_;
  workers releasing_;
  workers renewing_;
};

}  // namespace rowlock::serve
