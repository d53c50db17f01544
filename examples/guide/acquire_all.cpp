#include <rowlock/rowlock.hpp>

#include <chrono>
#include <functional>
#include <string>

// Moves money between two accounts; any number of calls may run at once, in both directions. False: the locks
// were not granted in time, or one of them was lost.
bool transfer(rowlock::client db, const std::string& from, const std::string& to,
              std::chrono::milliseconds patience,
              const std::function<void(rowlock::fencing_token from, rowlock::fencing_token to)>& move) {
  const rowlock::mutex source{db, "account/" + from};
  const rowlock::mutex target{db, "account/" + to};
  const rowlock::shared_mutex rates{db, "rates"};
  const auto all = rowlock::try_acquire_all_for(patience, {source, target, rowlock::shared(rates)});
  if (!all) return false;
  move(all[0].token(), all[1].token());  // in the order of the list above
  return all.valid();
}  // all are released, together
