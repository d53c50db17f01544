// One run of a story, from the first call to the last thread.
#pragma once

#include "simulator/recorder.hpp"
#include "simulator/story.hpp"

#include <array>
#include <cstdint>

namespace rowlock::simulator {

// Plain data: a run ends with its process, and leaves this in shared memory.
struct run_result {
  bool ended = false;
  bool failed = false;
  char rule[32]{};
  char what[4000]{};
  std::uint64_t hash = 0;
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  std::uint64_t points = 0;
  std::int64_t virtual_milliseconds = 0;
  std::array<std::uint64_t, fault_kinds> faults{};
  std::array<std::uint64_t, quorum_events> of_quorums{};
};

// Runs the story in this process, which ends with it.
[[noreturn]] void run_and_exit(const story& plan, bool prints, run_result& into);

}  // namespace rowlock::simulator
