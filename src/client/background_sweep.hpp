// Sweeps at intervals: frees what the dead leases of other clients have left behind.
#pragma once

#include "client/context.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"

#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Used by the lease keeper's thread.
class background_sweep {
 public:
  background_sweep(context& shared, submission_queue& queue, session_slot& slot)
      : context_(shared), queue_(queue), slot_(slot) {}

  // When the next step is due; never if sweeps are turned off.
  instant next() const noexcept { return next_; }
  void plan_first(instant now);
  // Sweeps one page. The next follows soon while there is more.
  void step();

 private:
  context& context_;
  submission_queue& queue_;
  session_slot& slot_;
  instant next_ = instant::max();
  std::unordered_set<std::string> submitted_;  // by this sweep
  std::string after_;  // the name at which the last page ended; empty: it was the last
  bool is_first_pass_ = true;
  bool pass_again_ = false;  // leases that this pass has found are dead now
};

}  // namespace rowlock::client_layer
