#include "cli/child_watch.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/patience.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// As written on the command line.
struct run_words {
  std::string name;
  std::string wait;
  std::string ttl = "1m";
  std::string kill_after;
  bool no_wait = false;
  int busy_code = busy;
};

struct run_settings {
  std::string name;
  std::optional<milliseconds> wait;
  milliseconds ttl{0};
  milliseconds kill_after{0};
  int busy_code = busy;
};

run_settings parse(const run_words& words) {
  run_settings result{.name = words.name,
                      .wait = {},
                      .ttl = parse_duration("--ttl", words.ttl),
                      .kill_after = {},
                      .busy_code = words.busy_code};
  if (!words.wait.empty()) result.wait = parse_duration("--wait", words.wait);
  if (words.no_wait) result.wait = 0ms;
  result.kill_after = words.kill_after.empty() ? std::min<milliseconds>(5s, result.ttl / 4)
                                               : parse_duration("--kill-after", words.kill_after);
  // A healthy lease is renewed when a third of its ttl has passed; a command must not be ended before.
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
    lost = watch(command, held, signals, chosen.kill_after, note);
    code = command.exit_code();
  } catch (const not_started& problem) {
    fmt::print(stderr, "rowlock: {}\n", problem.what());
    code = problem.exit_code();
  }
  switch (held.release()) {
    case release_result::lost: lost = true; break;
    case release_result::unknown:
      note(fmt::format("the database could not be told that '{}' is free; its lease ends within {}",
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
                "no command is given; write it after --, as in: rowlock run NAME -- COMMAND");
  }
  const auto chosen = parse(words);
  auto settings = global.client_options();
  settings.ttl = chosen.ttl;
  settings.statement_timeout = std::min(settings.statement_timeout, chosen.ttl / 3);
  const auto db = connect(global.database_url(), settings);
  mutex lock{db, chosen.name};

  signal_queue signals;
  auto [held, signal] = acquire_within(lock, chosen.wait, signals);
  if (signal != 0) return by_signal + signal;
  if (!held) {
    global.note(fmt::format("'{}' is busy", chosen.name));
    return chosen.busy_code;
  }
  return run_holding(global, chosen, std::move(*held), signals);
}

}  // namespace

void add_run(CLI::App& app, context& global) {
  auto* command = add_subcommand(
      app, "run", "Run a command while holding a lock: run NAME -- COMMAND ...",
      "rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "Without --wait it waits for ever. The command finds ROWLOCK_NAME and ROWLOCK_TOKEN in its\n"
      "environment, and its exit code is passed on. 75: busy. 76: the hold was lost while it ran.");
  auto words = std::make_shared<run_words>();
  command->add_option("NAME", words->name, "The lock's name")->required();
  auto* wait = command->add_option("-w,--wait", words->wait, "Give up after that long (30s); 0: do not wait")
                   ->type_name("DURATION");
  command->add_flag("-n,--no-wait", words->no_wait, "As --wait 0")->excludes(wait);
  command
      ->add_option("--ttl", words->ttl,
                   "How long the hold outlives a machine that vanished (1m); renewed meanwhile")
      ->type_name("DURATION");
  command
      ->add_option(
          "--kill-after", words->kill_after,
          "Between SIGTERM and SIGKILL when the hold cannot be kept (5s, or a quarter of --ttl if less)")
      ->type_name("DURATION");
  command->add_option("-E,--conflict-exit-code", words->busy_code, "Exit code when busy, instead of 75")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
  command->callback([&global, words] { global.action = [&global, words] { return run(global, *words); }; });
}

}  // namespace rowlock::cli
