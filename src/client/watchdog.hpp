// Watches deadlines and does no I/O, so that nothing can hold it up: leases that end, statements that hang,
// waits without a thread whose time is up.
#pragma once

#include "client/async_desk.hpp"
#include "client/herald.hpp"
#include "client/lease_keeper.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace rowlock::client_layer {

class watchdog {
 public:
  watchdog(context& shared, lease_keeper& keeper, hold_registry& holds, herald& herald, async_desk& async,
           std::vector<session_slot*> slots)
      : shared_(shared),
        keeper_(keeper),
        holds_(holds),
        herald_(herald),
        async_(async),
        slots_(std::move(slots)) {}

  void run();  // the thread's body, until stop()
  void stop();
  // A deadline may have come nearer.
  void look_again();

 private:
  instant check(instant now);

  context& shared_;
  lease_keeper& keeper_;
  hold_registry& holds_;
  herald& herald_;
  async_desk& async_;
  std::vector<session_slot*> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool look_again_ = false;
  bool stopped_ = false;
};

}  // namespace rowlock::client_layer
