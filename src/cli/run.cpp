#include "cli/acquire_within.hpp"
#include "cli/child_watch.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/counting_semaphore.hpp>
#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>

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
  bool shared = false;
  bool exclusive = false;
  std::int64_t permits = 1;
  std::int64_t capacity = 0;  // none was given
  std::string min_hold;
  std::string delay;
  bool unfair = false;
  bool yields = false;
  int busy_code = busy;
};

struct run_settings {
  std::string name;
  wait_limit wait;
  milliseconds ttl{0};
  milliseconds kill_after{0};
  milliseconds min_hold{0};
  lock_options lock{};
  bool yields = false;
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
  if (!words.min_hold.empty()) result.min_hold = parse_duration("--min-hold", words.min_hold);
  if (!words.delay.empty()) result.lock.delay = parse_duration("--delay", words.delay);
  result.lock.fair = !words.unfair;
  result.yields = words.yields;
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

// Waits without a limit, not at all, or for a while.
template <class Acquire, class Try, class TryFor>
request asking(Acquire acquire, Try try_once, TryFor try_for) {
  return [=](const wait_limit& wait, const acquire_options& how) -> hold {
    if (!wait) return acquire(how);
    if (wait->count() == 0) return try_once(how);
    return try_for(*wait, how);
  };
}

template <class Lock>
request asking(const std::shared_ptr<Lock>& lock) {
  return asking([lock](const auto& how) { return lock->acquire(how); },
                [lock](const auto& how) { return lock->try_acquire(how); },
                [lock](auto wait, const auto& how) { return lock->try_acquire_for(wait, how); });
}

request asking_to_share(const std::shared_ptr<shared_mutex>& lock) {
  return asking([lock](const auto& how) { return lock->acquire_shared(how); },
                [lock](const auto& how) { return lock->try_acquire_shared(how); },
                [lock](auto wait, const auto& how) { return lock->try_acquire_shared_for(wait, how); });
}

request asking_for(const std::shared_ptr<counting_semaphore>& lock, std::int64_t permits) {
  return asking([=](const auto& how) { return lock->acquire(permits, how); },
                [=](const auto& how) { return lock->try_acquire(permits, how); },
                [=](auto wait, const auto& how) { return lock->try_acquire_for(wait, permits, how); });
}

request wanted(const client& db, const run_words& words, const lock_options& lock) {
  if (words.shared) return asking_to_share(std::make_shared<shared_mutex>(db, words.name, lock));
  if (words.exclusive) return asking(std::make_shared<shared_mutex>(db, words.name, lock));
  if (words.capacity != 0) {
    return asking_for(std::make_shared<counting_semaphore>(db, words.name, words.capacity, lock),
                      words.permits);
  }
  return asking(std::make_shared<mutex>(db, words.name, lock));
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
  auto settings = global.client_options();
  settings.ttl = chosen.ttl;
  settings.statement_timeout = std::min<milliseconds>(settings.statement_timeout, chosen.ttl / 3);
  const auto db = connect(global.database_url(), settings);
  const auto ask = wanted(db, words, chosen.lock);

  signal_queue signals;
  auto [held, signal] = acquire_within(ask, chosen.wait, {.min_hold = chosen.min_hold}, signals);
  if (signal != 0) return by_signal + signal;
  if (!held) {
    global.note(fmt::format("'{}' is busy", chosen.name));
    return chosen.busy_code;
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
  command.add("NAME", words->name, "The lock's name").required();
  auto wait = command.add("-w,--wait", words->wait, "Give up after this time, such as 30s; 0: do not wait")
                  .value_name("DURATION");
  command.add_flag("-n,--no-wait", words->no_wait, "The same as --wait 0").excludes(wait);
  auto shared =
      command.add_flag("-s,--shared", words->shared,
                       "Take the lock as a reader: together with other readers, but not with a writer");
  auto exclusive = command.add_flag("-x,--exclusive", words->exclusive,
                                    "Take the lock as a writer: alone; readers of this name use --shared");
  auto permits = command.add("--permits", words->permits, "How many permits the command takes (default 1)")
                     .value_name("N")
                     .positive();
  auto capacity = command
                      .add("--capacity", words->capacity,
                           "How many permits the lock has; all users of the name must say the same number")
                      .value_name("M")
                      .positive();
  command
      .add("--min-hold", words->min_hold, "Keep the lock at least this long, even if the command ends sooner")
      .value_name("DURATION");
  auto delay = command
                   .add("--delay", words->delay,
                        "How long the lock rests after its holder was lost (default 0); stored with the name")
                   .value_name("DURATION");
  command.add_flag("--unfair", words->unfair,
                   "Grant the free lock to any request, and not to the first waiter; stored with the name");
  command.add_flag("--yield", words->yields,
                   "Send SIGTERM to the command when somebody requests the lock's release");
  permits.needs(capacity);
  delay.excludes(capacity);
  shared.excludes(exclusive).excludes(capacity);
  exclusive.excludes(capacity);
  command
      .add("--ttl", words->ttl,
           "How long the hold lasts if this machine fails (default 1m); it is renewed while the command runs")
      .value_name("DURATION");
  command
      .add("--kill-after", words->kill_after,
           "Time from SIGTERM to SIGKILL when the hold cannot be kept (default 5s, or a quarter of --ttl if "
           "less)")
      .value_name("DURATION");
  command.add("-E,--conflict-exit-code", words->busy_code, "Exit code for busy, instead of 75")
      .value_name("CODE")
      .between(0, 255);
  command.set_action([words](const context& global) { return run(global, *words); });
}

}  // namespace rowlock::cli
