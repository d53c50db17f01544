// The threads of a client. Detached, and keeping their owner alive: a thread that hangs in a dead connection
// must not hang whoever lets the client go.
#pragma once

#include "client/time_source.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace rowlock::client_layer {

// Thread-safe. Part of what each start() is given as owner.
class detached_threads {
 public:
  // Blocks all signals in the thread: they are the application's. Throws std::system_error.
  void start(const char* name, std::function<void()> body, std::shared_ptr<const void> owner);
  // Waits until all have ended; returns how many have not.
  int wait_until(const time_source& time, instant until);

 private:
  void ended();

  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
};

}  // namespace rowlock::client_layer
