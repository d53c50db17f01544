#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

void print(const std::vector<waiter_info>& waiters) {
  std::vector<std::vector<std::string>> rows{{"TICKET", "USER", "HOST", "PID", "APPLICATION", "COMMAND",
                                              "MODE", "WEIGHT", "HOLD", "LEASE EXPIRES IN"}};
  for (const auto& waiter : waiters) {
    rows.push_back({std::to_string(waiter.ticket), waiter.user, waiter.host, std::to_string(waiter.pid),
                    waiter.application, waiter.command, to_string(waiter.mode), std::to_string(waiter.weight),
                    waiter.hold_id.to_string(),
                    waiter.alive ? format_duration(waiter.expires_in) : "gone; will be skipped"});
  }
  fmt::print("{}", table(rows));
}

int queue(const context& global, const std::string& name) {
  admin db{global.connect_to_read()};
  const auto waiters = db.queue(name);
  if (global.json) {
    json::array array;
    for (const auto& waiter : waiters) array.push_back(to_json(waiter));
    print_json(array);
  } else if (!waiters.empty()) {
    print(waiters);
  }
  if (!waiters.empty()) return success;
  if (!db.show(name)) {
    global.note(fmt::format("there is no lock named '{}'", name));
    return not_found;
  }
  global.note(fmt::format("nobody waits for '{}'", name));
  return success;
}

int cycles(const context& global) {
  const auto found = admin{global.connect_to_read()}.cycles();
  if (global.json) {
    json::array array;
    for (const auto& cycle : found) {
      json::array members;
      for (const auto& [name, waiter] : cycle) {
        members.push_back(json::object{{"waits_for", name}, {"waiter", to_json(waiter)}});
      }
      array.push_back(members);
    }
    print_json(array);
    return success;
  }
  std::vector<std::vector<std::string>> rows{{"HOST", "PID", "APPLICATION", "WAITS FOR", "BLOCKED BY"}};
  const auto described = [](const waiter_info& waiter) {
    return fmt::format("{} {}", waiter.host, waiter.pid);
  };
  for (const auto& cycle : found) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto& [name, waiter] = cycle[i];
      rows.push_back({waiter.host, std::to_string(waiter.pid), waiter.application, name,
                      described(cycle[(i + 1) % cycle.size()].waiter)});
    }
  }
  if (found.empty()) {
    global.note("there is no deadlock");
  } else {
    fmt::print("{}", table(rows));
  }
  return success;
}

}  // namespace

void add_queue(command_syntax root) {
  auto command =
      root.add_subcommand("queue", "Show the waiters of a lock, the first one first; or show all deadlocks.",
                          "rowlock queue billing/nightly\n  rowlock queue --cycles");
  auto name = std::make_shared<std::string>();
  auto circles = std::make_shared<bool>(false);
  const auto named = command.add("NAME", *name, "The lock's name");
  command.add_flag("--cycles", *circles, "Show waiters that wait for each other's locks, over all names")
      .excludes(named);
  command.set_action([name, circles](const context& global) {
    if (*circles) return cycles(global);
    if (name->empty()) {
      throw error(errc::invalid_argument, "NAME or --cycles is required; see: rowlock queue --help");
    }
    return queue(global, *name);
  });
}

}  // namespace rowlock::cli
