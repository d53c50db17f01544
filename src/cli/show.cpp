#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::cli {

namespace {

// A holder's own text may be longer than a line of the terminal.
std::string fitting(const std::string& text) {
  constexpr std::size_t first_column = std::string_view{"release requested  "}.size();
  constexpr std::size_t least = 12;
  const auto columns = terminal_columns();
  return cut(printable(text), columns > first_column + least ? columns - first_column : least);
}

void print(const lock_info& lock) {
  std::vector<std::vector<std::string>> rows{{"name", lock.name},
                                             {"kind", to_string(lock.kind)},
                                             {"used", fmt::format("{} of {}", lock.in_use, lock.capacity)},
                                             {"token", lock.token.to_string()},
                                             {"waiters", std::to_string(lock.waiters)}};
  for (const auto& holder : lock.holders) {
    rows.push_back({"holder", rests(holder)
                                  ? holder_text(holder)
                                  : fmt::format("{}, pid {}, {}{}", holder.host, holder.pid,
                                                holder.application, is_expired(holder) ? " (expired)" : "")});
    if (!holder.user.empty()) rows.push_back({"  user", holder.user});
    if (!holder.command.empty()) rows.push_back({"  command", holder.command});
    if (!holder.data.empty()) rows.push_back({"  data", fitting(holder.data)});
    rows.push_back({"  hold", holder.hold_id.to_string()});
    rows.push_back(
        {"  mode", fmt::format("{}, {} of {}", to_string(holder.mode), holder.weight, lock.capacity)});
    rows.push_back({"  token", holder.token.to_string()});
    rows.push_back({"  held for", fmt::format("{}, since {}", format_duration(holder.held_for),
                                              time_text(-holder.held_for))});
    rows.push_back({"  expires in", fmt::format("{}, at {}", format_duration(holder.expires_in),
                                                time_text(holder.expires_in))});
  }
  if (is_held_by_the_dead(lock)) rows.push_back({"holder", "(dead)"});
  if (lock.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lock.request->remaining);
    rows.push_back({"release requested", lock.request->reason});
    rows.push_back({"  valid for", format_duration(left)});
  }
  fmt::print("{}", table(rows));
}

int show(const context& global, const std::string& name) {
  const auto lock = admin{global.connect_to_read()}.show(name);
  if (global.json) {
    json::array array;
    if (lock) array.push_back(to_json(*lock));
    print_json(array);
  } else if (lock) {
    print(*lock);
  }
  if (!lock) global.note(fmt::format("there is no lock named '{}'", name));
  return lock ? success : not_found;
}

}  // namespace

void add_show(command_syntax root) {
  auto command =
      root.add_subcommand("show", "Show one lock and its holders. Exit code 1: there is no such lock.",
                          "rowlock show billing/nightly");
  auto name = std::make_shared<std::string>();
  command.add("NAME", *name, "The lock's name").required();
  command.set_action([name](const context& global) { return show(global, *name); });
}

}  // namespace rowlock::cli
