#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

// Builds the report on one machine, however many try. False: another machine is building it, or the lock was
// lost on the way; then another machine may have started.
bool build_report(rowlock::client db, std::chrono::milliseconds patience,
                  const std::vector<std::function<void(std::int64_t token)>>& steps) {
  rowlock::mutex report{db, "reports/nightly"};
  const auto hold = report.try_acquire_for(patience);
  if (!hold) return false;  // busy is a value
  for (const auto& step : steps) {
    if (!hold->valid()) return false;  // hold->loss() says why
    // Above the token of every earlier builder, so the system that stores the result can refuse a lower one.
    step(hold->token());
  }
  return hold->valid();
}  // released, or handed over to the first waiter
