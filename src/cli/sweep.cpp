#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

int sweep(const context& global) {
  const auto done = admin{global.connect()}.sweep();
  if (global.json) {
    print_json({json::object{{"leases", done.leases}, {"locks", done.locks}}});
  } else {
    fmt::print("killed {}, cleaned {}\n", count_of(done.leases, "expired lease"),
               count_of(done.locks, "lock"));
  }
  return success;
}

}  // namespace

void add_sweep(command_syntax root) {
  root.add_subcommand(
          "sweep",
          "Kill expired leases and release what they held. Clients do this too; running it is harmless.",
          "rowlock sweep")
      .set_action(sweep);
}

}  // namespace rowlock::cli
