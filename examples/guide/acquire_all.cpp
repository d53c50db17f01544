#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

// Moves money between two accounts, however many processes do so at once and in whatever direction. False:
// the locks were not granted in time, or one was lost on the way.
bool transfer(rowlock::client db, const std::string& from, const std::string& to,
              std::chrono::milliseconds patience,
              const std::function<void(std::int64_t from_token, std::int64_t to_token)>& move) {
  const rowlock::mutex source{db, "account/" + from};
  const rowlock::mutex target{db, "account/" + to};
  const rowlock::shared_mutex rates{db, "rates"};
  const auto all = rowlock::try_acquire_all_for(patience, {source, target, rowlock::shared(rates)});
  if (!all) return false;
  move((*all)[0].token(), (*all)[1].token());  // in the order in which they were asked for
  return all->valid();
}  // all are released, together
