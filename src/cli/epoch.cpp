#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

namespace {

int print_epoch(const context& global, std::int64_t epoch) {
  if (global.json) {
    print_json(nlohmann::ordered_json::array({{{"epoch", epoch}}}));
  } else {
    fmt::print("{}\n", epoch);
  }
  return success;
}

int raise(const context& global, std::int64_t above) {
  // Beyond 2^53 a token would not survive JSON.
  if (above < 0 || above >= std::int64_t{1} << 53) {
    throw error(errc::invalid_argument, fmt::format("--above {} is no token; they are 0 to 2^53 - 1", above));
  }
  return print_epoch(global, admin{global.connect()}.raise_epoch(above));
}

int print_skew(const context& global, std::chrono::milliseconds skew) {
  if (global.json) {
    print_json(nlohmann::ordered_json::array({{{"skew_ms", skew.count()}}}));
  } else {
    fmt::print("{} ms\n", skew.count());
  }
  return success;
}

int store_skew(const context& global, std::chrono::milliseconds skew) {
  admin operations{global.connect()};
  operations.set_skew(skew);
  return print_skew(global, operations.skew());
}

}  // namespace

void add_epoch(CLI::App& app, context& global) {
  auto* command =
      add_subcommand(app, "epoch", "Show or raise the epoch, which keeps tokens rising across a restore.",
                     "rowlock epoch raise --above 123456");
  command->require_subcommand(0, 1);
  command->callback([&global] {
    if (global.action) return;  // raise has been chosen
    global.action = [&global] { return print_epoch(global, admin{global.connect()}.epoch()); };
  });
  add_subcommand(*command, "show", "Print the epoch (the default).", "rowlock epoch show");

  auto* up =
      add_subcommand(*command, "raise", "After a restore from a backup: raise it, before clients connect.",
                     "rowlock epoch raise --above 123456");
  auto above = std::make_shared<std::int64_t>(0);
  up->add_option("--above", *above, "The highest token that anybody has seen; later ones exceed it");
  up->callback([&global, above] { global.action = [&global, above] { return raise(global, *above); }; });

  auto* skew =
      add_subcommand(*command, "skew",
                     "Show or store how much later than its expiry a lease is taken away, by every client.",
                     "rowlock epoch skew 2s");
  auto length = std::make_shared<std::string>();
  skew->add_option("DURATION", *length, "As much as the clocks may differ of the servers that take turns");
  skew->callback([&global, length] {
    global.action = [&global, length] {
      if (length->empty()) return print_skew(global, admin{global.connect()}.skew());
      return store_skew(global, parse_duration("DURATION", *length));
    };
  });
}

}  // namespace rowlock::cli
