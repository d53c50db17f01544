#include "cli/held_command.hpp"

#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/open_clients.hpp"
#include "cli/stderr_lines.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace rowlock::cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

// Arguments may be secrets.
std::string shown_command(const std::vector<std::string>& command, bool with_arguments) {
  if (with_arguments) return without_passwords(fmt::format("{}", fmt::join(command, " ")));
  return std::filesystem::path{command.front()}.filename().string();
}

}  // namespace

void add_command_options(command_syntax command, command_words& words) {
  command
      .add("--ttl", words.ttl,
           "How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs")
      .value_name("DURATION");
  command
      .add("--at-most", words.at_most,
           "End the command when it has run for this time, and release the lock. The exit code is then 124")
      .value_name("DURATION");
  command
      .add("--kill-after", words.kill_after,
           "Time from SIGTERM to SIGKILL when the hold cannot be kept, or after --at-most (default 5s, or a "
           "quarter of --ttl if less)")
      .value_name("DURATION");
  command.add_flag("--show-arguments", words.shows_arguments,
                   "Show operators the command with its arguments, which are stored in the database; without "
                   "this, its name alone");
}

command_settings parse(const context& global, const command_words& words) {
  if (global.command.empty()) {
    throw error(errc::invalid_argument,
                fmt::format("there is no command; write it after --, as in: rowlock {} NAME -- COMMAND",
                            global.subcommand));
  }
  command_settings result{.ttl = parse_duration("--ttl", words.ttl)};
  result.shown_command = shown_command(global.command, words.shows_arguments);
  auto& kill_after = result.watch.kill_after;
  kill_after = words.kill_after.empty() ? std::min<milliseconds>(5s, result.ttl / 4)
                                        : parse_duration("--kill-after", words.kill_after);
  // A healthy lease is renewed when a third of its ttl has passed, so the command must not be ended before that.
  if (kill_after > result.ttl / 2) {
    throw error(
        errc::invalid_argument,
        fmt::format("--kill-after {} is more than half of --ttl {}: a healthy lease could end the command",
                    format_duration(kill_after), format_duration(result.ttl)));
  }
  if (!words.at_most.empty()) {
    result.watch.at_most = parse_duration("--at-most", words.at_most);
    if (*result.watch.at_most == 0ms) {
      throw error(errc::invalid_argument,
                  "--at-most 0 leaves the command no time; leave it out for no limit");
    }
  }
  return result;
}

client connect_for(const context& global, const command_settings& chosen) {
  auto settings = global.client_options();
  settings.ttl = chosen.ttl;
  settings.command = chosen.shown_command;
  settings.statement_timeout = std::min<milliseconds>(settings.statement_timeout, chosen.ttl / 3);
  return close_at_the_end(connect(global.database_url(), settings));
}

command_result run_holding(const context& global, const command_settings& chosen, const hold& held,
                           const std::function<release_result()>& release, signal_queue& signals) {
  const auto note = [&global](std::string_view message) { global.note(message); };
  const auto name = held.name();
  command_result result;
  watch_result seen;
  try {
    wait_for_stderr(100ms);  // so that these lines stand before those of the command
    child command{global.command, child_environment(name, held.token().value()), signals.mask_before()};
    seen = watch(command, held, signals, chosen.watch, note);
    if (!seen.out_of_reach) result.exit_code = seen.timed_out ? timed_out : command.exit_code();
  } catch (const not_started& problem) {
    global.print_to_stderr(problem.what());
    result.exit_code = problem.exit_code();
    result.ran = false;
  }
  result.signal = seen.signal;
  result.lost = seen.lost;
  result.out_of_reach = seen.out_of_reach;
  switch (release()) {
    case release_result::lost: result.lost = true; break;
    case release_result::unknown:
      note(fmt::format("the release of '{}' did not reach the database; its lease expires within {}", name,
                       format_duration(chosen.ttl)));
      break;
    case release_result::pending:
      note(fmt::format("a guarded transaction keeps '{}' until it ends", name));
      break;
    case release_result::released: global.detail(fmt::format("released '{}'", name)); break;
  }
  if (result.lost) {
    note(fmt::format("the hold of '{}' was lost while the command ran", name));
    result.exit_code = hold_lost;
  }
  if (result.out_of_reach) result.exit_code = not_ended;
  return result;
}

}  // namespace rowlock::cli
