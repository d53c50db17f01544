// Tells holders of their loss, on a thread of its own: a user's callback that takes long delays nothing but
// the next one.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace rowlock::client_layer {

class herald {
 public:
  herald(context& shared, hold_registry& holds) : shared_(shared), holds_(holds) {}

  // Marks the hold as lost and has its holder told. Nothing happens to one that is released or lost already.
  void lose(const hold_ptr& hold, loss reason);

  void run();  // the thread's body, until stop()
  void stop();

 private:
  context& shared_;
  hold_registry& holds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<hold_ptr> lost_;
  bool stopped_ = false;
};

}  // namespace rowlock::client_layer
