// Watches deadlines: leases that end, statements that hang, waits without a thread whose time has passed. It
// does no I/O, so nothing can delay it.
#pragma once

#include "client/base/async_waiters.hpp"
#include "client/base/backoff.hpp"
#include "client/core/loss_notifier.hpp"
#include "client/keeper/lease_keeper.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <functional>
#include <vector>

namespace rowlock::client_layer {

class watchdog {
 public:
  watchdog(client_environment& environment, lease_keeper& keeper, hold_registry& holds,
           loss_notifier& loss_notifier, async_waiters& async, std::vector<session_slot*> slots)
      : environment_(environment),
        keeper_(keeper),
        holds_(holds),
        loss_notifier_(loss_notifier),
        async_(async),
        slots_(std::move(slots)) {}

  void run() noexcept;  // the thread's body, until stop()
  void stop();
  // Call this when a deadline may have moved closer.
  void check_again();
  // Called in each round, at least four times a second: what could not be done for lack of memory is tried again.
  std::function<void()> on_round{};

 private:
  instant check(instant now) noexcept;

  client_environment& environment_;
  lease_keeper& keeper_;
  hold_registry& holds_;
  loss_notifier& loss_notifier_;
  async_waiters& async_;
  std::vector<session_slot*> slots_;
  backoff without_memory_ = failure_pause();
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  bool check_again_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
