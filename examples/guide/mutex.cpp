#include <rowlock/rowlock.hpp>

#include <chrono>
#include <functional>
#include <vector>

// Builds the report on one machine, however many try. False: another machine builds it, or the lock was lost,
// and another machine may have begun.
bool build_report(rowlock::client db, std::chrono::milliseconds patience,
                  const std::vector<std::function<void(rowlock::fencing_token token)>>& steps) {
  rowlock::mutex report{db, "reports/nightly"};
  const auto hold = report.try_acquire_for(patience);
  if (!hold) return false;  // busy is a value
  for (const auto& step : steps) {
    if (!hold.valid()) return false;  // hold.loss() says why
    // Greater than the token of every earlier builder, so the storage can refuse a lower one.
    step(hold.token());
  }
  return hold.valid();
}  // releases the lock, or hands it to the first waiter
