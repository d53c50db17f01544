// Tells the observers of elections in this process that something may have changed, but not what.
#pragma once

#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"
#include "model/ids.hpp"

#include <condition_variable>
#include <cstdint>
#include <stop_token>

namespace rowlock::client_layer {

// Wake-ups about offices, which are the locks of elections, go to this id. All clients that watch an office
// listen to it. It is never a lease's id, because those are random.
inline model::lease_id office_watchers() {
  static const auto name = model::lease_id::parse("00000000000000000000000000000001");
  return name;
}

// Thread-safe.
class change_signal {
 public:
  std::uint64_t version() const {
    const model::annotated_lock lock{mutex_};
    return version_;
  }
  void notify() {
    {
      const model::annotated_lock lock{mutex_};
      ++version_;
    }
    changed_.notify_all();
  }
  // Waits until the version differs from `after`, until the time `until`, or until stop is requested. Returns
  // true if the version differs.
  bool wait(time_source& time, std::uint64_t after, instant until, const std::stop_token& stop) {
    std::stop_callback on_stop{stop, [this] {
                                 const model::annotated_lock lock{mutex_};
                                 changed_.notify_all();
                               }};
    model::annotated_lock lock{mutex_};
    while (version_ == after && !stop.stop_requested() && time.now() < until)
      time.wait_until(lock, changed_, until);
    return version_ != after;
  }

 private:
  mutable model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t version_ ROWLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace rowlock::client_layer
