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

int gc(const context& global, const std::string& idle) {
  const auto unused = parse_duration("--idle", idle);
  const auto deleted = admin{global.connect()}.collect(unused);
  if (global.json) {
    print_json(nlohmann::ordered_json::array({{{"deleted", deleted}}}));
  } else {
    fmt::print("deleted {}\n", count_of(deleted, "lock"));
  }
  return success;
}

}  // namespace

void add_gc(CLI::App& app, context& global) {
  auto* command =
      add_subcommand(app, "gc", "Delete locks that are free and long unused; their tokens go on rising.",
                     "rowlock gc --idle 30d");
  auto idle = std::make_shared<std::string>();
  command->add_option("--idle", *idle, "Delete what was not acquired for that long (30d)")
      ->required()
      ->type_name("DURATION");
  command->callback([&global, idle] { global.action = [&global, idle] { return gc(global, *idle); }; });
}

}  // namespace rowlock::cli
