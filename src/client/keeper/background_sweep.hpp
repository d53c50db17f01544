// Sweeps at intervals: frees what the dead leases of other clients have left behind.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/submission_queue.hpp"

#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Used by the lease keeper's thread.
class background_sweep {
 public:
  background_sweep(client_environment& environment, submission_queue& queue, session_slot& slot)
      : environment_(environment), queue_(queue), slot_(slot) {}

  // When the next step is due; never if sweeps are turned off.
  instant next() const noexcept { return next_; }
  void plan_first(instant now);
  // Sweeps one page. The next step is due soon while there are more pages.
  void step();

 private:
  client_environment& environment_;
  submission_queue& queue_;
  session_slot& slot_;
  instant next_ = instant::max();
  std::unordered_set<std::string> submitted_;  // the names that the present sweep has submitted
  // The name at which the latest page ended. Empty: no page follows in this pass.
  std::string after_;
  bool is_first_pass_ = true;
  bool pass_again_ = false;  // leases that this pass has found are dead now, so another pass follows
};

}  // namespace rowlock::client_layer
