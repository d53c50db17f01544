#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

namespace {

void print(const std::vector<waiter_info>& waiters) {
  std::vector<std::vector<std::string>> rows{
      {"TICKET", "HOST", "PID", "APPLICATION", "MODE", "WEIGHT", "HOLD", "LEASE EXPIRES IN"}};
  for (const auto& waiter : waiters) {
    rows.push_back({std::to_string(waiter.ticket), waiter.host, std::to_string(waiter.pid),
                    waiter.application, waiter.mode, std::to_string(waiter.weight), waiter.hold_id,
                    waiter.alive ? format_duration(waiter.expires_in) : "gone; will be skipped"});
  }
  fmt::print("{}", table(rows));
}

int queue(const context& global, const std::string& name) {
  admin db{global.connect()};
  const auto waiters = db.queue(name);
  if (global.json) {
    auto array = nlohmann::ordered_json::array();
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

}  // namespace

void add_queue(CLI::App& app, context& global) {
  auto* command = add_subcommand(app, "queue", "Show who waits for a lock, first in line first.",
                                 "rowlock queue billing/nightly");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The lock's name")->required();
  command->callback([&global, name] { global.action = [&global, name] { return queue(global, *name); }; });
}

}  // namespace rowlock::cli
