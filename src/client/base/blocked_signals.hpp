// Signals belong to the application. While this object lives, the calling thread and the threads that it
// starts receive none.
#pragma once

#include "model/signal_mask.hpp"

namespace rowlock::client_layer {

class blocked_signals {
 public:
  blocked_signals() noexcept = default;

 private:
  const model::signal_mask mask_{SIG_BLOCK, model::all_signals()};
};

}  // namespace rowlock::client_layer
