// The waits of this process that no thread blocks for: their deadlines, and those that are settled. One
// thread calls the executors of their callers. A slow executor delays only the executors behind it.
#pragma once

#include "client/time_source.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

// A wait that is settled once, and then calls an executor.
class async_wait {
 public:
  async_wait() = default;
  async_wait(const async_wait&) = delete;
  async_wait& operator=(const async_wait&) = delete;
  virtual ~async_wait() = default;

  virtual void give_up() = 0;  // the time is up
  virtual void refuse() = 0;   // the client is closed
  virtual void tell() = 0;     // it is settled: calls the executor
};

// Thread-safe. Calls nothing under its mutex. The last reference to a wait is dropped only on the waiters'
// own thread or on a caller's, because the caller's objects are destroyed with it.
class async_waiters {
 public:
  // until: when the wait's time is up. Empty: never. Returns false if this object is closed.
  bool add(std::shared_ptr<async_wait> wait, std::optional<instant> until);
  // Changes when the wait's time is up. Does nothing if it is settled or was removed.
  void set_deadline(const async_wait& wait, instant until);
  // The wait is settled; its executor will be called. Call this once for each wait that was added, unless
  // remove() came first.
  void settled(const async_wait& wait);
  // The wait was abandoned: no executor is called.
  void remove(const async_wait& wait);

  // Calls an executor in its turn, without a wait. Once the thread has ended, it is called on the caller's thread.
  void post(std::function<void()> call);

  // Ends the waits whose time is up. Returns the first deadline of the others.
  std::optional<instant> end_overdue(instant now);

  void run();  // the thread's body, until it is closed and the last executor was called
  // The waits that are left end with error(closed).
  void close();

 private:
  struct seat {
    std::shared_ptr<async_wait> wait;
    std::optional<instant> until;  // the key in deadlines_
  };

  std::shared_ptr<async_wait> take(const async_wait& wait) ROWLOCK_REQUIRES(mutex_);

  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const async_wait*, seat> waiting_ ROWLOCK_GUARDED_BY(mutex_);
  std::set<std::pair<instant, const async_wait*>> deadlines_ ROWLOCK_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> calls_ ROWLOCK_GUARDED_BY(mutex_);
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool over_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
