// Many runs, each in its own process, and their results together.
#pragma once

#include "simulator/run.hpp"
#include "simulator/story.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::simulator {

struct seed_range {
  std::uint64_t first = 1;
  std::uint64_t last = 1000;
  int jobs = 2;
  double seconds = 0;                // 0: no limit
  std::size_t failures_at_most = 1;  // after so many the program stops
};

struct failed_seed {
  std::uint64_t seed = 0;
  std::string rule;
  std::string what;
};

struct seeds_summary {
  std::uint64_t seeds = 0;
  std::vector<failed_seed> failures;
  std::uint64_t median_events = 0;
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  double seconds = 0;
  std::array<std::uint64_t, 3> severities{};
  std::array<std::uint64_t, quorum_events> of_quorums{};
  std::array<std::uint64_t, fault_kinds> faults{};
};

// Makes one run in a child process.
run_result run_seed(std::uint64_t seed, const omissions& without, bool prints);
seeds_summary run_seeds(const seed_range& range);

// Leaves out everything that the failure does not need.
omissions shrink(std::uint64_t seed, const std::string& rule);

}  // namespace rowlock::simulator
