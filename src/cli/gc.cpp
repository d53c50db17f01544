#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

int gc(const context& global, const std::string& idle) {
  const auto unused = parse_duration("--idle", idle);
  const auto deleted = admin{global.connect()}.collect(unused);
  if (global.json) {
    print_json({json::object{{"deleted", deleted}}});
  } else {
    fmt::print("deleted {}\n", count_of(deleted, "lock"));
  }
  return success;
}

}  // namespace

void add_gc(command_syntax root) {
  auto command = root.add_subcommand(
      "gc", "Delete free locks that nobody has used for a long time. Their tokens keep rising.",
      "rowlock gc --idle 30d");
  auto idle = std::make_shared<std::string>();
  command.add("--idle", *idle, "Delete locks that nobody has acquired for this long, such as 30d")
      .required()
      .value_name("DURATION");
  command.set_action([idle](const context& global) { return gc(global, *idle); });
}

}  // namespace rowlock::cli
