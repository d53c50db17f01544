#include <rowlock/rowlock.hpp>

#include <chrono>
#include <functional>
#include <stop_token>
#include <vector>

// One site at a time runs the job, as long as two of the three databases are available. `databases`: those
// that could be connected to; one may be down when this process starts.
bool run_at_one_site(const std::vector<rowlock::client>& databases, std::chrono::milliseconds patience,
                     const std::function<void(rowlock::fencing_token token, std::stop_token lost)>& job) {
  rowlock::quorum_mutex global{databases, "close-month", {.members = 3}};
  const auto held = global.try_acquire_for(patience);
  if (!held) return false;  // another site has it, or too few databases answer
  job(held.token(), held.stop_token());
  return held.valid();
}  // releases it on all of them
