// Runs a command while a lock is held; shared by run and elect.
#pragma once

#include "cli/child_watch.hpp"
#include "cli/command_line.hpp"

#include <rowlock/hold.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rowlock::cli {

// As written on the command line.
struct command_words {
  std::string ttl = "1m";
  std::string kill_after;
  std::string at_most;
  bool shows_arguments = false;
};

// --ttl, --kill-after, --at-most and --show-arguments.
void add_command_options(command_syntax command, command_words& words);

struct command_settings {
  std::chrono::milliseconds ttl{0};
  watch_settings watch{};
  std::string shown_command{};  // to operators
};

// Throws error(invalid_argument), also if there is no command after "--".
command_settings parse(const context& global, const command_words& words);

// A client whose lease has that ttl.
client connect_for(const context& global, const command_settings& chosen);

struct command_result {
  int exit_code = 0;          // of this program: hold_lost, timed_out, not_ended, or the command's
  bool ran = true;            // false: it could not be started
  bool lost = false;          // the hold was lost while it ran
  bool out_of_reach = false;  // see watch_result
  int signal = 0;             // see watch_result
};

// Runs the command and then calls release. Prints everything that happens.
command_result run_holding(const context& global, const command_settings& chosen, const hold& held,
                           const std::function<release_result()>& release, signal_queue& signals);

}  // namespace rowlock::cli
