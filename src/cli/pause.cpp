#include "cli/pause.hpp"

#include <condition_variable>

namespace rowlock::cli {

namespace {

// The condition never becomes true, so there is nothing to guard.
struct no_lock {
  void lock() {}
  void unlock() {}
};

}  // namespace

void pause_until(std::chrono::steady_clock::time_point then, const std::stop_token& stop) {
  std::condition_variable_any never;
  no_lock nothing;
  never.wait_until(nothing, stop, then, [] { return false; });
}

}  // namespace rowlock::cli
