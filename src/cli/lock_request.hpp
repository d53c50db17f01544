// How run, elect and acquire request a lock: the options that say which lock and how, the request, and the reports on
// stderr while it waits.
#pragma once

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace rowlock::cli {

// How long to wait. Empty: without a limit; zero: not at all.
using wait_limit = std::optional<std::chrono::milliseconds>;

// As written on the command line.
struct lock_words {
  std::string name;
  std::string wait;
  bool no_wait = false;
  bool shared = false;
  bool exclusive = false;
  std::int64_t permits = 1;
  std::int64_t capacity = 0;  // 0: not given
  std::string delay;
  std::string data;
  bool unfair = false;
  int busy_code = busy;

  // Each throws error(invalid_argument).
  wait_limit limit() const;
  lock_options options() const;
};

// NAME, --wait, --no-wait, -E, --delay and --unfair, which elect also has.
void add_name_and_wait(CLI::App& command, lock_words& words);
// --shared, --exclusive, --permits, --capacity and --data.
void add_kind_and_data(CLI::App& command, lock_words& words);

// Checks the text as hold::set_data and term::proclaim do, but before the command waits for the lock. Throws
// error(invalid_argument).
void check_data(const std::string& text);

// Calls acquire, try_acquire or try_acquire_for, as the limit says.
using request = std::function<hold(const wait_limit& limit, const acquire_options& how)>;
// The hold gets what --data says, after its grant. Throws error(invalid_argument) if that is no text for a hold.
request request_for(const client& db, const lock_words& words);

// "; held by host:123 rowlock run and 2 more since 2026-11-23T12:30:00Z (3m)", as read from the database. Empty if
// nobody holds the lock, the database does not answer, or with -q.
std::string who_keeps(const context& global, const client& db, const std::string& name);

// While a report lives, it says on stderr that the command waits: after a second, and then less and less often. -q
// silences it. The destructor waits for a reading of the database that is under way.
class wait_report {
 public:
  wait_report(const context& global, client db, std::string name);

  // With -v: says that the lock was granted, with that token, or, for the token 0, that it was not.
  void tell_end(fencing_token token) const;

 private:
  std::chrono::milliseconds waited() const;
  void run(const std::stop_token& stop) const;

  const context& global_;
  client db_;
  std::string name_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::jthread thread_;  // the last member, because the thread uses the others
};

}  // namespace rowlock::cli
