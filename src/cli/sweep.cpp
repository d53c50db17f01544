#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

namespace {

int sweep(const context& global) {
  const auto done = admin{global.connect()}.sweep();
  if (global.json) {
    print_json(nlohmann::ordered_json::array({{{"leases", done.leases}, {"locks", done.locks}}}));
  } else {
    fmt::print("killed {}, cleaned {}\n", count_of(done.leases, "expired lease"),
               count_of(done.locks, "lock"));
  }
  return success;
}

}  // namespace

void add_sweep(CLI::App& app, context& global) {
  auto* command = add_subcommand(
      app, "sweep", "Kill expired leases and free what they held. Clients do so too; it hurts nobody.",
      "rowlock sweep");
  command->callback([&global] { global.action = [&global] { return sweep(global); }; });
}

}  // namespace rowlock::cli
