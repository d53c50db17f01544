// The subcommands run and elect, which run a command while a lock is held.
#include "cli/child_watch.hpp"
#include "cli/exit_code.hpp"
#include "cli/lock_request.hpp"
#include "cli/signals.hpp"
#include "cli/stderr_lines.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/election.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// As written on the command line.
struct command_words {
  std::string ttl = "1m";
  std::string kill_after;
  std::string at_most;
  bool shows_arguments = false;
};

// --ttl, --kill-after, --at-most and --show-arguments.
void add_command_options(CLI::App& command, command_words& words) {
  add_nonempty(
      command, "--ttl", words.ttl,
      "How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs")
      ->type_name("DURATION");
  add_nonempty(
      command, "--at-most", words.at_most,
      "End the command when it has run for this time, and release the lock. The exit code is then 124")
      ->type_name("DURATION");
  add_nonempty(
      command, "--kill-after", words.kill_after,
      "Time from SIGTERM to SIGKILL when the hold cannot be kept, or after --at-most (default 5s, or a "
      "quarter of --ttl if less)")
      ->type_name("DURATION");
  command.add_flag("--show-arguments", words.shows_arguments,
                   "Show operators the command with its arguments, which are stored in the database; without "
                   "this, its name alone");
}

struct command_settings {
  milliseconds ttl{0};
  watch_settings watch{};
  std::string shown_command{};  // to operators
};

// Arguments may be secrets.
std::string shown_command(const std::vector<std::string>& command, bool with_arguments) {
  if (with_arguments) return without_passwords(fmt::format("{}", fmt::join(command, " ")));
  return std::filesystem::path{command.front()}.filename().string();
}

// Throws error(invalid_argument), also if there is no command after "--".
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

// Connects a client whose lease has the chosen ttl.
client connect_for(const context& global, const command_settings& chosen) {
  auto settings = global.client_options();
  settings.ttl = chosen.ttl;
  settings.command = chosen.shown_command;
  settings.statement_timeout = std::min<milliseconds>(settings.statement_timeout, chosen.ttl / 3);
  return global.connect(settings);
}

struct command_result {
  int exit_code = 0;          // of this program: hold_lost, timed_out, not_ended, or the command's
  bool ran = true;            // false: the command could not be started
  bool lost = false;          // the hold was lost while the command ran
  bool out_of_reach = false;  // see watch_result
  int signal = 0;             // see watch_result
};

// Runs the command and then calls release. Prints everything that happens.
command_result run_holding(const context& global, const command_settings& chosen, const hold& held,
                           const std::function<release_result()>& release, signal_queue& signals) {
  const auto note = [&global](std::string_view message) { global.note(message); };
  const auto name = held.name();
  command_result result;
  watch_result seen;
  try {
    wait_for_stderr(100ms);  // so that these lines stand before those of the command
    // A Ctrl-Z that reaches only this process must not stop it alone, because the command would go on without renewals.
    const queued_stops stops{signals};
    child command{global.command, child_environment(held), signals.mask_before()};
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

error lost_at_once(const std::string& name) {
  return {errc::hold_lost, "'" + name + "' was acquired, and lost before the command began"};
}

// As written on the command line.
struct run_words {
  lock_words lock;
  command_words command;
  std::string min_hold;
  bool yields = false;
};

int run(const context& global, const run_words& words) {
  auto chosen = parse(global, words.command);
  chosen.watch.yields = words.yields;
  const auto limit = words.lock.limit();
  acquire_options how;
  if (!words.min_hold.empty()) how.min_hold = parse_duration("--min-hold", words.min_hold);
  const auto db = connect_for(global, chosen);
  const auto ask = request_for(db, words.lock);

  signal_queue signals;
  signals.block_until_exit();
  hold held;
  const int signal = until_signal(signals, [&](std::stop_token stop) {
    const wait_report waiting{global, db, words.lock.name};
    how.stop = std::move(stop);
    held = ask(limit, how);
    waiting.tell_end(held.token());
  });
  if (signal != 0) {
    held.release();
    return by_signal + signal;
  }
  if (held.token() == fencing_token{}) {
    global.note(fmt::format("'{}' is busy{}", words.lock.name, who_keeps(global, db, words.lock.name)));
    return words.lock.busy_code;
  }
  if (!held) throw lost_at_once(words.lock.name);
  return run_holding(
             global, chosen, held, [&] { return held.release(); }, signals)
      .exit_code;
}

// As written on the command line.
struct elect_words {
  lock_words office;
  command_words command;
  std::string value;
  bool repeats = false;
};

// A command that ends at once must not be restarted at once.
constexpr auto shortest_round = 1s;

term campaign(election& office, const wait_limit& limit, const acquire_options& how) {
  if (!limit) return office.campaign(how);
  if (limit->count() == 0) return office.try_campaign(how);
  return office.try_campaign_for(*limit, how);
}

// Writes the leader's value. False: the office was lost, or the database failed, before the command could begin, and
// with --repeat the caller stands by again.
bool takes_office(const context& global, term& leads, const elect_words& words) {
  try {
    if (!words.value.empty()) leads.proclaim(words.value);
    if (!leads) throw lost_at_once(words.office.name);
    return true;
  } catch (const error& failure) {
    if (!words.repeats || (failure.code() != errc::hold_lost && !failure.transient())) throw;
    global.note(fmt::format("{}; standing by for '{}' again", failure.what(), words.office.name));
    leads.resign();
    return false;
  }
}

int elect(const context& global, const elect_words& words) {
  const auto chosen = parse(global, words.command);
  const auto limit = words.office.limit();
  check_data(words.value);
  const auto db = connect_for(global, chosen);
  election office{db, words.office.name, words.office.options()};

  signal_queue signals;
  signals.block_until_exit();
  for (;;) {
    const auto began = clock::now();
    term leads;
    int signal = until_signal(signals, [&](std::stop_token stop) {
      const wait_report waiting{global, db, office.name()};
      leads = campaign(office, limit, {.stop = std::move(stop)});
      waiting.tell_end(leads.token());
    });
    if (signal != 0) {
      leads.resign();
      return by_signal + signal;
    }
    if (leads.token() == fencing_token{}) {
      global.note(
          fmt::format("another process leads '{}'{}", office.name(), who_keeps(global, db, office.name())));
      return words.office.busy_code;
    }
    if (takes_office(global, leads, words)) {
      const auto done = run_holding(
          global, chosen, leads.office(), [&] { return leads.resign(); }, signals);
      if (!words.repeats || !done.ran || done.out_of_reach || done.signal != 0) return done.exit_code;
      global.note(fmt::format("the command has exited with {}; standing by for '{}' again", done.exit_code,
                              office.name()));
    }
    signal = until_signal(signals,
                          [&](const std::stop_token& stop) { pause_until(began + shortest_round, stop); });
    if (signal != 0) return by_signal + signal;
  }
}

}  // namespace

void add_run(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "run", "Run a command while holding a lock: run NAME -- COMMAND ...",
      "rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "  rowlock run catalog --shared -- ./report\n"
      "  rowlock run gpu --permits 2 --capacity 8 -- ./train\n"
      "Without --wait it waits for ever. The command finds ROWLOCK_NAME, ROWLOCK_TOKEN and ROWLOCK_HOLD in\n"
      "its environment. The exit code is the command's; 75: busy; 76: the hold was lost while the command\n"
      "ran; 124: --at-most ended the command; 71: the command could not be ended, since it runs as another\n"
      "user.");
  auto words = std::make_shared<run_words>();
  add_name_and_wait(command, words->lock);
  add_kind_and_data(command, words->lock);
  add_command_options(command, words->command);
  add_nonempty(command, "--min-hold", words->min_hold,
               "Keep the lock at least this long, even if the command ends sooner")
      ->type_name("DURATION");
  command.add_flag("--yield", words->yields,
                   "Send SIGTERM to the command when somebody requests the lock's release");
  program.set_action(command, [words](const context& global) { return run(global, *words); });
}

void add_elect(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "elect", "Run a command while this process leads: elect NAME -- COMMAND ...",
      "rowlock elect scheduler -- ./scheduler\n"
      "  rowlock elect scheduler --repeat --value \"$(hostname):8080\" -- ./scheduler\n"
      "One process leads and runs its command, and the others stand by. When the command of the leader ends\n"
      "or its office is lost, the next one leads. The exit codes are those of run.");
  auto words = std::make_shared<elect_words>();
  add_name_and_wait(command, words->office);
  add_command_options(command, words->command);
  command.add_flag("--repeat", words->repeats,
                   "When the command has ended or the office was lost, stand by again instead of exiting");
  command.add_option("--value", words->value, "What the leader proclaims to observers, such as its address")
      ->type_name("TEXT");
  program.set_action(command, [words](const context& global) { return elect(global, *words); });
}

}  // namespace rowlock::cli
