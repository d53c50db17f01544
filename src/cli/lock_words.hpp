// The arguments and options that run and acquire share: which lock they ask for, and how.
#pragma once

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

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
  std::int64_t capacity = 0;  // none was given
  std::string delay;
  std::string data;
  bool unfair = false;
  int busy_code = busy;

  // Each throws error(invalid_argument).
  wait_limit limit() const;
  lock_options options() const;
};

// NAME, --wait, --no-wait, -E, --delay and --unfair, which elect also has.
void add_name_and_wait(command_syntax command, lock_words& words);
// --shared, --exclusive, --permits, --capacity and --data.
void add_kind_and_data(command_syntax command, lock_words& words);

// As hold::set_data and term::proclaim check it, but before the wait. Throws error(invalid_argument).
void check_data(const std::string& text);

// Calls acquire, try_acquire or try_acquire_for, as the limit says.
using request = std::function<hold(const wait_limit& limit, const acquire_options& how)>;
// The hold gets what --data says, after its grant. Throws error(invalid_argument) if it is no text for a hold.
request request_for(const client& db, const lock_words& words);

}  // namespace rowlock::cli
