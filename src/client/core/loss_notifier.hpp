// Notifies holders of losses and release requests, on a thread of its own. A slow callback of the user's
// delays only the callbacks behind it.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/core/hold_registry.hpp"
#include "model/call_queue.hpp"

#include <span>
#include <string>

namespace rowlock::client_layer {

class loss_notifier {
 public:
  loss_notifier(client_environment& environment, hold_registry& holds)
      : environment_(environment), holds_(holds) {}

  // Marks the holds as lost and has their holders notified; the log is written afterwards. Holds that are
  // already released or lost are skipped.
  void lose(std::span<const hold_ptr> holds, loss reason) noexcept;
  void lose(const hold_ptr& hold, loss reason) noexcept { lose({&hold, 1}, reason); }

  // The same for holds that are marked already, all with the same reason.
  void deliver(lost_holds lost) noexcept;

  // Has the holder notified of a release request. If memory runs out, nothing has happened.
  void notify_request(const hold_ptr& hold, const std::string& reason, instant until);

  void run() noexcept;  // the thread's body, until stop(); later losses are told on the caller's thread
  void stop() { calls_.stop(); }

 private:
  // The holds whose holders are to be told. The lost ones go first, all at once.
  struct untold {
    lost_holds lost;
    asked_holds asked;

    bool empty() const noexcept { return lost.empty() && asked.empty(); }
    untold pop() noexcept;
  };

  void tell_now(lost_holds lost) const noexcept;
  void note_end(const hold_state& lost, instant now) const noexcept;
  void log_lost(lost_holds lost) const noexcept;

  client_environment& environment_;
  hold_registry& holds_;
  model::call_queue<untold> calls_;
};

}  // namespace rowlock::client_layer
