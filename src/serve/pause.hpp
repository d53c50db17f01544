// A wait that a stop request ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>

namespace rowlock::serve {

// Waits until that time, or until a stop is requested.
inline void pause_until(std::chrono::steady_clock::time_point then, const std::stop_token& stop) {
  // The condition never becomes true, so there is nothing to guard.
  struct {
    void lock() {}
    void unlock() {}
  } nothing;
  std::condition_variable_any never;
  never.wait_until(nothing, stop, then, [] { return false; });
}

}  // namespace rowlock::serve
