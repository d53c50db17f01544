// Reports on stderr who keeps a command waiting.
#pragma once

#include "cli/context.hpp"

#include <rowlock/admin.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace rowlock::cli {

// "host:123 rowlock run and 2 more since 2026-11-23T12:30:00Z (3m)", or "" if nobody holds it.
std::string holders_text(const std::optional<lock_info>& lock);

// "; held by ..." as read from the database. Empty if nobody holds it, the database does not answer, or with -q.
std::string who_keeps(const context& global, const client& db, const std::string& name);

// While it lives, it reports that the command waits: after a second, and then less and less often. -q silences
// it. Its destructor waits for a reading of the database that is under way.
class wait_report {
 public:
  wait_report(const context& global, client db, std::string name);

  // With -v: reports that the lock was granted, with that token, or, for 0, that it was not.
  void tell_end(fencing_token token) const;

 private:
  std::chrono::milliseconds waited() const;
  void run(const std::stop_token& stop) const;

  const context& global_;
  client db_;
  std::string name_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace rowlock::cli
