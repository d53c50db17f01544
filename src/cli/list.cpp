#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

std::vector<std::string> row_of(const lock_info& lock) {
  std::vector<std::string> row{lock.name, to_string(lock.kind),
                               fmt::format("{}/{}", lock.in_use, lock.capacity), std::to_string(lock.token),
                               std::to_string(lock.waiters)};
  if (!lock.holders.empty()) {
    const auto& first = lock.holders.front();
    const auto others = lock.holders.size() - 1;
    row.push_back(fmt::format("{}:{} {}{}", first.host, first.pid, first.application,
                              others == 0 ? "" : fmt::format(" and {} more", others)));
    row.push_back(format_duration(first.held_for));
    row.push_back(format_duration(first.expires_in));
  }
  return row;
}

int list(const context& global) {
  const auto locks = admin{global.connect_to_read()}.list();
  if (global.json) {
    json::array array;
    for (const auto& lock : locks) array.push_back(to_json(lock));
    print_json(array);
    return success;
  }
  if (locks.empty()) {
    global.note("there are no locks");
    return success;
  }
  std::vector<std::vector<std::string>> rows{
      {"NAME", "KIND", "USED", "TOKEN", "WAITERS", "HOLDER", "HELD", "EXPIRES IN"}};
  for (const auto& lock : locks) rows.push_back(row_of(lock));
  fmt::print("{}", table(rows));
  return success;
}

}  // namespace

void add_list(command_syntax root) {
  root.add_subcommand("list", "List all locks, with their holders and numbers of waiters.",
                      "rowlock list --json")
      .set_action(list);
}

}  // namespace rowlock::cli
