// How a client's threads and callers pause: a pause ends when its time has passed, when stop is requested, or
// when the client is closed.
#pragma once

#include <rowlock/config.hpp>

#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <stop_token>

namespace rowlock::client_layer {

// Thread-safe.
class stoppable_sleep {
 public:
  explicit stoppable_sleep(time_source& time) : time_(time) {}

  // False: the pause ended early, because stop was requested or the client was closed.
  bool sleep_until(instant then, const std::stop_token& stop = {}) {
    std::stop_callback on_stop{stop, [this] {
                                 const model::annotated_lock lock{mutex_};
                                 changed_.notify_all();
                               }};
    model::annotated_lock lock{mutex_};
    while (!closed_ && !stop.stop_requested() && time_.now() < then) time_.wait_until(lock, changed_, then);
    return !closed_ && !stop.stop_requested();
  }

  bool is_closed() const {
    const model::annotated_lock lock{mutex_};
    return closed_;
  }
  // Ends all pauses, present and future.
  void close() {
    {
      const model::annotated_lock lock{mutex_};
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  time_source& time_;
  mutable model::annotated_mutex mutex_;
  std::condition_variable changed_;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
