// Notifies holders of losses and release requests, on a thread of its own. A slow callback of the user's
// delays only the callbacks behind it.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <span>
#include <string>

namespace rowlock::client_layer {

class loss_notifier {
 public:
  loss_notifier(context& shared, hold_registry& holds) : context_(shared), holds_(holds) {}

  // Marks the holds as lost and has their holders notified; the log is written afterwards. Holds that are
  // already released or lost are skipped.
  void lose(std::span<const hold_ptr> holds, loss reason) noexcept;
  void lose(const hold_ptr& hold, loss reason) noexcept { lose({&hold, 1}, reason); }

  // The same for holds that are marked already.
  void tell(lost_holds lost) noexcept;

  // Has the holder notified of a release request. If memory runs out, nothing has happened.
  void notify_request(const hold_ptr& hold, const std::string& reason, instant until);

  void run();  // the thread's body, until stop()
  void stop();

 private:
  void tell_now(lost_holds lost) const noexcept;
  void log_lost(lost_holds lost) const noexcept;

  context& context_;
  hold_registry& holds_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  lost_holds lost_ ROWLOCK_GUARDED_BY(mutex_);
  asked_holds asked_ ROWLOCK_GUARDED_BY(mutex_);
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
