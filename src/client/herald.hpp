// Tells holders of their loss, and of those who ask for their locks, on a thread of its own: a user's
// callback that takes long delays nothing but the next one.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace rowlock::client_layer {

class herald {
 public:
  herald(context& shared, hold_registry& holds) : shared_(shared), holds_(holds) {}

  // Marks the hold as lost and has its holder told. Nothing happens to one that is released or lost already.
  void lose(const hold_ptr& hold, loss reason);

  // Has the holder told that somebody asks for the lock.
  void ask(const hold_ptr& hold, const std::string& reason, instant until);

  void run();  // the thread's body, until stop()
  void stop();

 private:
  void tell(std::function<void()> news);

  context& shared_;
  hold_registry& holds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> news_;
  bool stopped_ = false;
};

}  // namespace rowlock::client_layer
