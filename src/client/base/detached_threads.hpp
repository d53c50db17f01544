// The threads of a client. They are detached and keep their owner alive, so a thread that hangs in a dead
// connection does not hang the caller that drops the client.
#pragma once

#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace rowlock::client_layer {

// Thread-safe, except start_once(). Requires: the owner that start() gets keeps this object alive.
class detached_threads {
 public:
  // Blocks all signals in the thread, because they belong to the application. The body must not throw. Throws
  // std::system_error.
  void start(const char* name, std::function<void()> body, std::shared_ptr<const void> owner);
  // As start(), once per role: a later call does nothing. Throws error(unreachable) if the thread cannot be
  // started; the next call tries again. Requires: no two threads call this function at once.
  void start_once(const std::string& role, const char* name, std::function<void()> body,
                  std::shared_ptr<const void> owner);
  // Waits until all threads have ended, or until that time. Returns how many have not ended. If the calling
  // thread is one of them, as when a stop callback closes its client, it neither waits for itself nor counts
  // itself.
  int wait_until(time_source& time, instant until);

 private:
  void ended();

  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  int running_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  std::set<std::string> roles_;  // those whose thread was started
};

}  // namespace rowlock::client_layer
