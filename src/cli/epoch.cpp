#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

int print_epoch(const context& global, std::int64_t epoch) {
  if (global.json) {
    print_json({json::object{{"epoch", epoch}}});
  } else {
    fmt::print("{}\n", epoch);
  }
  return success;
}

int raise(const context& global, std::int64_t above) {
  // JSON would round a token beyond 2^53.
  if (above < 0 || above >= std::int64_t{1} << 53) {
    throw error(errc::invalid_argument,
                fmt::format("--above {} is not a token; tokens are 0 to 2^53 - 1", above));
  }
  return print_epoch(global, admin{global.connect()}.raise_epoch(fencing_token{above}));
}

int print_skew(const context& global, std::chrono::milliseconds skew) {
  if (global.json) {
    print_json({json::object{{"skew_ms", skew.count()}}});
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

void add_epoch(command_syntax root) {
  auto command = root.add_subcommand(
      "epoch", "Show or raise the epoch, which keeps tokens rising after a restore from a backup.",
      "rowlock epoch raise --above 123456");
  const auto show = [](const context& global) {
    return print_epoch(global, admin{global.connect_to_read()}.epoch());
  };
  command.set_action(show);
  command.add_subcommand("show", "Print the epoch (the default).", "rowlock epoch show").set_action(show);

  auto up = command.add_subcommand("raise",
                                   "Raise the epoch after a restore from a backup, before clients connect.",
                                   "rowlock epoch raise --above 123456");
  auto above = std::make_shared<std::int64_t>(0);
  up.add("--above", *above, "The highest token that anybody has seen; all later tokens are higher");
  up.set_action([above](const context& global) { return raise(global, *above); });

  auto skew = command.add_subcommand(
      "skew", "Show or store the skew: how much later than its expiry any client may kill a lease.",
      "rowlock epoch skew 2s");
  auto length = std::make_shared<std::string>();
  skew.add("DURATION", *length,
           "At least the difference between the clocks of servers that replace each other");
  skew.set_action([length](const context& global) {
    if (length->empty()) return print_skew(global, admin{global.connect_to_read()}.skew());
    return store_skew(global, parse_duration("DURATION", *length));
  });
}

}  // namespace rowlock::cli
