#include "cli/exit_code.hpp"
#include "cli/held_command.hpp"
#include "cli/lock_words.hpp"
#include "cli/pause.hpp"
#include "cli/subcommands.hpp"
#include "cli/until_signal.hpp"
#include "cli/wait_report.hpp"

#include <rowlock/election.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

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

int elect(const context& global, const elect_words& words) {
  const auto chosen = parse(global, words.command);
  const auto limit = words.office.limit();
  check_data(words.value);
  const auto db = connect_for(global, chosen);
  election office{db, words.office.name, words.office.options()};

  signal_queue signals;
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
    if (!leads) {
      global.note(
          fmt::format("another process leads '{}'{}", office.name(), who_keeps(global, db, office.name())));
      return words.office.busy_code;
    }
    if (!words.value.empty()) leads.proclaim(words.value);
    const auto done = run_holding(
        global, chosen, leads.office(), [&] { return leads.resign(); }, signals);
    if (!words.repeats || !done.ran || done.out_of_reach || done.signal != 0) return done.exit_code;
    global.note(fmt::format("the command has exited with {}; standing by for '{}' again", done.exit_code,
                            office.name()));
    signal = until_signal(signals,
                          [&](const std::stop_token& stop) { pause_until(began + shortest_round, stop); });
    if (signal != 0) return by_signal + signal;
  }
}

}  // namespace

void add_elect(command_syntax root) {
  auto command = root.add_subcommand(
      "elect", "Run a command while this process leads: elect NAME -- COMMAND ...",
      "rowlock elect scheduler -- ./scheduler\n"
      "  rowlock elect scheduler --repeat --value \"$(hostname):8080\" -- ./scheduler\n"
      "One process leads and runs its command, and the others stand by. When the command of the leader ends\n"
      "or its office is lost, the next one leads. The exit codes are those of run.");
  auto words = std::make_shared<elect_words>();
  add_name_and_wait(command, words->office);
  add_command_options(command, words->command);
  command.add_flag("--repeat", words->repeats,
                   "When the command has ended or the office was lost, stand by again instead of exiting");
  command.add("--value", words->value, "What the leader proclaims to observers, such as its address")
      .value_name("TEXT")
      .may_be_empty();
  command.set_action([words](const context& global) { return elect(global, *words); });
}

}  // namespace rowlock::cli
