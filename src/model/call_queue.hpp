// Calls that one thread makes, one after the other, so that whoever causes them does not wait for them.
#pragma once

#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <list>
#include <utility>

namespace rowlock::model {

// Calls in the order in which they were added.
template <class Call>
struct call_list {
  std::list<Call> all;

  bool empty() const noexcept { return all.empty(); }
  Call pop() noexcept {
    auto next = std::move(all.front());
    all.pop_front();
    return next;
  }
};

// Thread-safe. Calls: a container, such as call_list, with empty() and pop(), which removes and returns what the thread
// does next. Making an empty container, and pop(), must not need memory; then only `add` may need some.
//
//            | until run() has ended         | afterwards, or after drop()
//   put()    | the thread will make the call | false: nothing was added
//   stop()   | run() ends once none is left  | -
//   drop()   | none begins any more          | -
template <class Calls>
class call_queue {
 public:
  // Passes the calls that wait to `add`, which adds to them. Requires: `add` runs no user code, because the mutex is
  // locked. Throws what `add` throws.
  template <class Add>
  bool put(Add add) {
    {
      const annotated_lock lock{mutex_};
      if (over_) return false;
      add(waiting_);
    }
    changed_.notify_one();
    return true;
  }

  // The thread's body, until stop(). `make` makes one call, with no mutex locked; it must not throw.
  template <class Make>
  void run(Make make) noexcept {
    annotated_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
      if (waiting_.empty()) break;
      {
        auto next = waiting_.pop();
        lock.unlock();
        make(next);
      }
      lock.lock();
    }
    over_ = true;
  }

  void stop() {
    {
      const annotated_lock lock{mutex_};
      stopped_ = true;
    }
    changed_.notify_one();
  }

  void drop() {
    Calls dropped;  // outlives the lock
    {
      const annotated_lock lock{mutex_};
      stopped_ = over_ = true;
      std::swap(dropped, waiting_);
    }
    changed_.notify_one();
  }

 private:
  annotated_mutex mutex_;
  std::condition_variable changed_;
  Calls waiting_ ROWLOCK_GUARDED_BY(mutex_);
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool over_ ROWLOCK_GUARDED_BY(mutex_) = false;  // nobody makes what would be added now
};

}  // namespace rowlock::model
