#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/held_command.hpp"
#include "cli/lock_words.hpp"
#include "cli/subcommands.hpp"
#include "cli/until_signal.hpp"
#include "cli/wait_report.hpp"

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

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
  if (!held) {
    global.note(fmt::format("'{}' is busy{}", words.lock.name, who_keeps(global, db, words.lock.name)));
    return words.lock.busy_code;
  }
  return run_holding(
             global, chosen, held, [&] { return held.release(); }, signals)
      .exit_code;
}

}  // namespace

void add_run(command_syntax root) {
  auto command = root.add_subcommand(
      "run", "Run a command while holding a lock: run NAME -- COMMAND ...",
      "rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "  rowlock run catalog --shared -- ./report\n"
      "  rowlock run gpu --permits 2 --capacity 8 -- ./train\n"
      "Without --wait it waits for ever. The command has ROWLOCK_NAME and ROWLOCK_TOKEN in its\n"
      "environment. The exit code is the command's; 75: busy; 76: the hold was lost while the command ran;\n"
      "124: --at-most ended the command; 71: the command could not be ended, since it runs as another user.");
  auto words = std::make_shared<run_words>();
  add_name_and_wait(command, words->lock);
  add_kind_and_data(command, words->lock);
  add_command_options(command, words->command);
  command
      .add("--min-hold", words->min_hold, "Keep the lock at least this long, even if the command ends sooner")
      .value_name("DURATION");
  command.add_flag("--yield", words->yields,
                   "Send SIGTERM to the command when somebody requests the lock's release");
  command.set_action([words](const context& global) { return run(global, *words); });
}

}  // namespace rowlock::cli
