// A pause that a stop request can end.
#pragma once

#include <chrono>
#include <stop_token>

namespace rowlock::cli {

// Waits until that time, or until a stop is requested.
void pause_until(std::chrono::steady_clock::time_point then, const std::stop_token& stop);

}  // namespace rowlock::cli
