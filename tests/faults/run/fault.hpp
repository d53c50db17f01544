// The faults: what is broken, and how it ends.
#pragma once

#include "crowd.hpp"
#include "site.hpp"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rowlock::test {

// The place and the circumstances in which a fault happens.
struct scene {
  site& where;
  crowd& workers;
  std::mt19937& random;
  std::chrono::milliseconds ttl;

  std::chrono::milliseconds any(std::chrono::milliseconds from, std::chrono::milliseconds to) {
    return std::chrono::milliseconds{
        std::uniform_int_distribution<std::int64_t>{from.count(), to.count()}(random)};
  }
};

struct fault {
  std::string name;
  std::string what;  // for people
  std::vector<std::string> databases;
  bool is_proxied = false;  // the workers connect through the proxy
  // Begins and ends the fault. Returns the time from which the recovery counts, on CLOCK_BOOTTIME.
  std::function<std::int64_t(scene&)> strike;
  // The rules, and the errors that are not transient, that this fault may cause without a violation. docs/design.md,
  // "What is not promised".
  std::vector<std::string> explains{};
  // What the site must have, and what repairs the site after each time.
  equipment needs = equipment::nothing;
  std::function<void(scene&)> mend{};
  // Whether commits that were confirmed may be gone afterwards.
  bool loses_commits = false;

  bool is_for(const std::string& database) const;
};

std::vector<fault> all_faults();

// The parts of the list.
std::vector<fault> client_faults();
std::vector<fault> server_faults();
std::vector<fault> connection_faults();
std::vector<fault> file_faults();
std::vector<fault> mode_faults();
std::vector<fault> cluster_faults();

}  // namespace rowlock::test
