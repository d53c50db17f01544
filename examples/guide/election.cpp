#include <rowlock/rowlock.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

// Leads for one term if it is elected in time; every candidate calls it repeatedly. `schedule` returns when
// its stop token says that the office is lost, or when its work is done.
bool lead(rowlock::client db, const std::string& address, std::chrono::milliseconds patience,
          const std::function<void(rowlock::fencing_token token, std::stop_token lost)>& schedule) {
  rowlock::election scheduler{db, "scheduler"};
  auto term = scheduler.try_campaign_for(patience);
  if (!term) return false;
  term.proclaim(address);
  schedule(term.token(), term.stop_token());
  return true;
}  // resigns; the first candidate in the queue is elected

// Where to send the work. Empty: nobody leads now, or the leader has not published its address yet.
std::optional<std::string> leader(rowlock::client db) {
  const rowlock::leadership known = rowlock::election{db, "scheduler"}.observe();
  if (known.value.empty()) return {};
  return known.value;
}
