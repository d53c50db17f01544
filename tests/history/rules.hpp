// What must hold in every history. A rule reports only what the times prove: a history that no correct run could have
// produced.
#pragma once

#include "holds.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace rowlock::history {

struct violation {
  std::string rule;  // exclusion, tokens, order, orphan, wake-up
  std::string name;
  std::string what;
  std::vector<std::size_t> events;  // the positions of the events that prove it
};

struct bounds {
  // How long a lock may be free while somebody waits for it.
  std::chrono::nanoseconds free{std::chrono::seconds{5}};
};

// I1: the weights of holds that certainly stood together are at most the capacity.
void check_exclusion(const std::string& name, const lock_history& lock, std::vector<violation>& found);
// I2: a grant that was requested after another was known has a higher token; no two grants have the same.
void check_tokens(const std::string& name, const lock_history& lock, std::vector<violation>& found);
// I9: of two requests that stood in the queue, the one with the lower ticket is granted first.
void check_order(const std::string& name, const lock_history& lock, std::vector<violation>& found);
// I6: each hold and each place that the database shows is somebody's.
void check_orphans(const std::string& name, const lock_history& lock, const std::vector<event>& events,
                   std::vector<violation>& found);
// I6: nobody waits for a free lock for longer than the bound.
void check_wakeups(const std::string& name, const lock_history& lock, const std::vector<event>& events,
                   const bounds& limits, std::vector<violation>& found);

// Checks all rules. The events must be sorted by time.
std::vector<violation> check(const std::vector<event>& events, const bounds& limits = {});

}  // namespace rowlock::history
