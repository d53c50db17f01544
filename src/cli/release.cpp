#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rowlock::cli {

namespace {

int release(const context& global, const std::string& name, const std::string& hold_id, bool force) {
  if (!force) {
    throw error(errc::invalid_argument,
                "this takes the lock from its holder while it may be at work; confirm with --force");
  }
  admin db{global.connect()};
  const bool released = db.release(name, hold_id);
  const bool known = released || db.show(name).has_value();
  if (global.json) {
    print_json(nlohmann::ordered_json::array({{{"name", name}, {"released", released}}}));
  } else if (released) {
    fmt::print("released '{}'; whoever held it has been told\n", printable(name));
  } else if (known) {
    global.note(fmt::format("nobody held '{}'", name));
  }
  if (!known) global.note(fmt::format("there is no lock named '{}'", name));
  return known ? success : not_found;
}

}  // namespace

void add_release(CLI::App& app, context& global) {
  struct settings {
    std::string name;
    std::string hold_id;
    bool force = false;
  };
  auto* command = add_subcommand(app, "release", "Take a lock from all who hold it; its token rises.",
                                 "rowlock release billing/nightly --force");
  auto chosen = std::make_shared<settings>();
  command->add_option("NAME", chosen->name, "The lock's name")->required();
  command->add_option("--hold", chosen->hold_id, "Take it from that hold alone")->type_name("HOLD_ID");
  command->add_flag("--force", chosen->force, "Confirm that the holder may lose the lock at work");
  command->callback([&global, chosen] {
    global.action = [&global, chosen] {
      return release(global, chosen->name, chosen->hold_id, chosen->force);
    };
  });
}

}  // namespace rowlock::cli
