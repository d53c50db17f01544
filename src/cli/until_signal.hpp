// A wait that a signal ends.
#pragma once

#include "cli/signal_queue.hpp"

#include <functional>
#include <stop_token>

namespace rowlock::cli {

// Calls the body with a stop token, which stops at the first signal. Returns the signal, or 0 if none came
// before the body returned. Throws what the body throws, except error(cancelled).
int until_signal(signal_queue& signals, const std::function<void(std::stop_token)>& body);

}  // namespace rowlock::cli
