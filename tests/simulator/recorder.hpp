// The events of a run, for people: always counted, printed on request. Printing changes nothing in the run.
#pragma once

#include "simulator/scheduler.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace rowlock::simulator {

enum class fault_kind : std::uint8_t {
  request_delayed,
  reply_delayed,
  request_dropped,
  reply_dropped,
  reply_dropped_alive,
  connection_stalled,
  reply_stalled,
  connect_refused,
  connect_stalled,
  statement_timeout,
  statement_cancelled,
  deadlock_victim,
  disk_full,
  out_of_memory,
  denied,
  ghost,
  ghosts_run,
  wakeups_lost,
  process_stalled,
  process_stalled_beyond_ttl,
  process_crashed,
  server_crashed,
  asynchronous_commits_lost,
  fail_over,
  commits_lost,
  marker_lost,
  network_cut,
  server_read_only,
  row_locked,
  node_behind,
  node_too_late,
  commit_conflicted,
  clock_stepped,
  clock_drifts,
  logger_slow,
  callback_slow,
  thread_delayed,
  spurious_wakeup,
  forced_release,
  release_requested,
  count
};
inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault_kind::count);
std::string_view to_string(fault_kind kind);

// The outcomes of the calls of a quorum_mutex.
enum class quorum_event : std::uint8_t { granted, not_granted, lost, count };
inline constexpr std::size_t quorum_events = static_cast<std::size_t>(quorum_event::count);

// Records one run.
class recorder {
 public:
  recorder(scheduler& runs, bool prints) : runs_(runs), prints_(prints) {}

  // An event: a verb of the store, a fault, a user's call or its result. detail() returns a text.
  template <class Detail>
  void event(std::string_view what, Detail detail) {
    ++events_;
    runs_.note(what);
    runs_.note(static_cast<std::uint64_t>(runs_.now()));
    if (prints_) print(what, detail());
  }
  void event(std::string_view what) {
    event(what, [] { return std::string{}; });
  }
  template <class Detail>
  void fault(fault_kind kind, Detail detail) {
    count(kind);
    event(to_string(kind), [&] { return "(fault) " + detail(); });
  }
  void count(fault_kind kind, std::uint64_t times = 1) { faults_[static_cast<std::size_t>(kind)] += times; }

  void count(quorum_event what) { ++of_quorums_[static_cast<std::size_t>(what)]; }

  std::uint64_t events() const noexcept { return events_; }
  const std::array<std::uint64_t, fault_kinds>& faults() const noexcept { return faults_; }
  const std::array<std::uint64_t, quorum_events>& of_quorums() const noexcept { return of_quorums_; }
  bool prints() const noexcept { return prints_; }
  void print(std::string_view what, const std::string& detail) const {
    const auto now = runs_.now() - 1000 * second;
    std::printf("%9.3f ms  client %d  %.*s %s\n", static_cast<double>(now) / 1e6, runs_.home().id,
                static_cast<int>(what.size()), what.data(), detail.c_str());
  }

 private:
  scheduler& runs_;
  bool prints_;
  std::uint64_t events_ = 0;
  std::array<std::uint64_t, fault_kinds> faults_{};
  std::array<std::uint64_t, quorum_events> of_quorums_{};
};

}  // namespace rowlock::simulator
