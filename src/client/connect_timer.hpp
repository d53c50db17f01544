// Bounds one attempt to connect: the connection, the login and the first statements together.
#pragma once

#include "client/time_source.hpp"
#include "store/connect_watch.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace rowlock::client_layer {

class connect_timer {
 public:
  // Breaks off the attempt at that time, from a thread of its own, which lives as long as this does and has
  // all signals blocked. Throws error(unreachable) when no thread can be started.
  connect_timer(time_source& time, instant until);
  ~connect_timer();

  store::connect_watch& watch() noexcept { return watch_; }
  bool is_up() const { return watch_.is_interrupted(); }

 private:
  void run(time_source& time, instant until);

  store::connect_watch watch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace rowlock::client_layer
