// Looks after the database: kills expired leases, and deletes names that nobody uses any more.
#pragma once

#include "serve/database.hpp"

#include <rowlock/election.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace rowlock::serve {

struct upkeep_settings {
  std::chrono::milliseconds sweep_every = std::chrono::seconds{30};  // 0: never
  std::optional<std::chrono::milliseconds> collect_idle{};           // empty: never
  std::string election = "rowlock/serve";

  bool is_on() const noexcept { return sweep_every.count() > 0 || collect_idle; }
};

// What was done since the start.
struct upkeep_counts {
  std::atomic<bool> leads{false};
  std::atomic<std::uint64_t> sweeps{0};
  std::atomic<std::uint64_t> leases{0};     // killed
  std::atomic<std::uint64_t> locks{0};      // cleaned
  std::atomic<std::uint64_t> collected{0};  // deleted
};

// A thread that works while it leads an election, so that of several services one does the work. If it loses the office,
// it begins nothing more. A call that is under way then ends as usual, which is safe: sweep and collect may run anywhere
// at any time, only not usefully twice.
class upkeep {
 public:
  // note: receives a line when the service begins or ceases to lead, and when work begins to fail.
  upkeep(database& db, upkeep_settings settings, std::function<void(std::string_view)> note);

  const upkeep_counts& counts() const noexcept { return counts_; }
  // Resigns, in the background; the destructor waits for it.
  void stop() { thread_.request_stop(); }

 private:
  void run(const std::stop_token& stop);
  void lead_once(const std::stop_token& stop);
  void work(const term& leads, const std::stop_token& stop);
  void sweep();
  void collect();
  void attempt(const std::function<void()>& work);

  database& db_;
  const upkeep_settings settings_;
  const std::function<void(std::string_view)> note_;
  upkeep_counts counts_;
  bool has_failed_ = false;  // the latest attempt; so that a failure that lasts is noted once
  std::jthread thread_;      // the last member, because the thread uses the others
};

}  // namespace rowlock::serve
