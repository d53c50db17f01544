// Notifies holders of losses and release requests, on a thread of its own. A slow callback of the user's
// delays only the callbacks behind it.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

class loss_notifier {
 public:
  loss_notifier(context& shared, hold_registry& holds) : context_(shared), holds_(holds) {}

  // Marks the holds as lost and has their holders notified; the log is written afterwards. Holds that are
  // already released or lost are skipped.
  void lose(std::vector<hold_ptr> holds, loss reason);
  void lose(const hold_ptr& hold, loss reason) { lose(std::vector{hold}, reason); }

  // Has the holder notified of a release request.
  void notify_request(const hold_ptr& hold, const std::string& reason, instant until);

  void run();  // the thread's body, until stop()
  void stop();

 private:
  void tell(std::function<void()> news);
  void log_lost(const std::vector<hold_ptr>& holds, loss reason) const;

  context& context_;
  hold_registry& holds_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> changes_ ROWLOCK_GUARDED_BY(mutex_);
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
