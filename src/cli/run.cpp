#include "cli/child_watch.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/lock_words.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"
#include "cli/until_signal.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// As written on the command line.
struct run_words {
  lock_words lock;
  std::string ttl = "1m";
  std::string kill_after;
  std::string min_hold;
  bool yields = false;
};

struct run_settings {
  std::string name;
  milliseconds ttl{0};
  milliseconds kill_after{0};
  milliseconds min_hold{0};
  bool yields = false;
};

run_settings parse(const run_words& words) {
  run_settings result{
      .name = words.lock.name, .ttl = parse_duration("--ttl", words.ttl), .yields = words.yields};
  if (!words.min_hold.empty()) result.min_hold = parse_duration("--min-hold", words.min_hold);
  result.kill_after = words.kill_after.empty() ? std::min<milliseconds>(5s, result.ttl / 4)
                                               : parse_duration("--kill-after", words.kill_after);
  // A healthy lease is renewed when a third of its ttl has passed. The command must not be ended before that.
  if (result.kill_after > result.ttl / 2) {
    throw error(
        errc::invalid_argument,
        fmt::format("--kill-after {} is more than half of --ttl {}: a healthy lease could end the command",
                    format_duration(result.kill_after), format_duration(result.ttl)));
  }
  return result;
}

int run_holding(const context& global, const run_settings& chosen, hold held, signal_queue& signals) {
  const auto note = [&global](std::string_view message) { global.note(message); };
  bool lost = false;
  int code = success;
  try {
    child command{global.command, child_environment(chosen.name, held.token()), signals.mask_before()};
    lost = watch(command, held, signals, {chosen.kill_after, chosen.yields}, note);
    code = command.exit_code();
  } catch (const not_started& problem) {
    global.print_to_stderr(problem.what());
    code = problem.exit_code();
  }
  switch (held.release()) {
    case release_result::lost: lost = true; break;
    case release_result::unknown:
      note(fmt::format("the release of '{}' did not reach the database; its lease expires within {}",
                       chosen.name, format_duration(chosen.ttl)));
      break;
    case release_result::released:
    case release_result::pending: break;
  }
  if (!lost) return code;
  note(fmt::format("the hold of '{}' was lost while the command ran", chosen.name));
  return hold_lost;
}

int run(const context& global, const run_words& words) {
  if (global.command.empty()) {
    throw error(errc::invalid_argument,
                "there is no command; write it after --, as in: rowlock run NAME -- COMMAND");
  }
  const auto chosen = parse(words);
  const auto limit = words.lock.limit();
  auto settings = global.client_options();
  settings.ttl = chosen.ttl;
  settings.statement_timeout = std::min<milliseconds>(settings.statement_timeout, chosen.ttl / 3);
  const auto db = connect(global.database_url(), settings);
  const auto ask = request_for(db, words.lock);

  signal_queue signals;
  hold held;
  const int signal = until_signal(signals, [&](std::stop_token stop) {
    held = ask(limit, {.min_hold = chosen.min_hold, .stop = std::move(stop)});
  });
  if (signal != 0) {
    held.release();
    return by_signal + signal;
  }
  if (!held) {
    global.note(fmt::format("'{}' is busy", chosen.name));
    return words.lock.busy_code;
  }
  return run_holding(global, chosen, std::move(held), signals);
}

}  // namespace

void add_run(command_syntax root) {
  auto command = root.add_subcommand(
      "run", "Run a command while holding a lock: run NAME -- COMMAND ...",
      "rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "  rowlock run catalog --shared -- ./report\n"
      "  rowlock run gpu --permits 2 --capacity 8 -- ./train\n"
      "Without --wait it waits without a limit. The command has ROWLOCK_NAME and ROWLOCK_TOKEN in its\n"
      "environment. The exit code is the command's; 75: busy; 76: the hold was lost while the command ran.");
  auto words = std::make_shared<run_words>();
  add_name_and_wait(command, words->lock);
  add_kind(command, words->lock);
  command
      .add("--min-hold", words->min_hold, "Keep the lock at least this long, even if the command ends sooner")
      .value_name("DURATION");
  command.add_flag("--yield", words->yields,
                   "Send SIGTERM to the command when somebody requests the lock's release");
  command
      .add("--ttl", words->ttl,
           "How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs")
      .value_name("DURATION");
  command
      .add("--kill-after", words->kill_after,
           "Time from SIGTERM to SIGKILL when the hold cannot be kept (default 5s, or a quarter of --ttl if "
           "less)")
      .value_name("DURATION");
  command.set_action([words](const context& global) { return run(global, *words); });
}

}  // namespace rowlock::cli
