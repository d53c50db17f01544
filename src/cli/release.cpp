#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/receipt.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

struct release_words {
  std::string name;
  std::string receipt;
  std::string hold_id;
  bool force = false;
  bool ask = false;
  bool then_force = false;
  std::string reason;
  std::string within = "30s";
};

void print_result(const context& global, const std::string& name, bool released, const std::string& message) {
  if (global.json) {
    print_json({json::object{{"name", name}, {"released", released}}});
  } else if (released) {
    fmt::print("{}\n", message);
  } else {
    global.note(message);
  }
}

int ask(const context& global, admin& db, const release_words& chosen) {
  const auto& name = chosen.name;
  if (!db.show(name)) {
    print_result(global, name, false, fmt::format("there is no lock named '{}'", name));
    return not_found;
  }
  const request_options how{.reason = chosen.reason,
                            .within = parse_duration("--within", chosen.within),
                            .then_force = chosen.then_force};
  switch (db.request_release(name, how)) {
    case request_result::unheld:
      print_result(global, name, false, fmt::format("nobody held '{}'", name));
      break;
    case request_result::released:
      print_result(global, name, true, fmt::format("the holders released '{}'", printable(name)));
      break;
    case request_result::forced:
      print_result(global, name, true,
                   fmt::format("released '{}' by force; its holders are notified", printable(name)));
      break;
    case request_result::kept:
      print_result(global, name, false,
                   fmt::format("'{}' is still held; --then-force releases it by force after --within", name));
      return busy;
  }
  return success;
}

int release_own(const context& global, const std::string& receipt) {
  const auto db = global.connect();
  // A hold that has expired can still be adopted if nobody has taken the lock. It counts as lost nevertheless.
  const bool has_lasted = extend(db, receipt);
  auto held = rowlock::adopt(db, receipt);
  const auto name = held.name();
  const auto released = held ? held.release() : release_result::lost;
  const auto result = has_lasted ? released : release_result::lost;
  if (global.json) print_json({json::object{{"released", result == release_result::released}}});
  switch (result) {
    case release_result::released:
      if (!global.json) fmt::print("released '{}'\n", printable(name));
      return success;
    case release_result::lost: return tell_of_loss(global);
    case release_result::pending:
    case release_result::unknown: break;
  }
  global.print_to_stderr(fmt::format("the release of '{}' did not reach the database; it is free within {}",
                                     name, format_duration(global.client_options().ttl)));
  return unavailable;
}

int release(const context& global, const release_words& chosen) {
  const auto& name = chosen.name;
  if (!chosen.receipt.empty()) return release_own(global, receipt_of(chosen.receipt));
  if (name.empty()) {
    throw error(errc::invalid_argument, "NAME or --receipt is required; see: rowlock release --help");
  }
  if (!chosen.force && !chosen.ask) {
    throw error(
        errc::invalid_argument,
        "this takes the lock from a holder that may be at work; confirm with --force, or ask the holder with "
        "--ask");
  }
  admin db{global.connect()};
  if (chosen.ask) return ask(global, db, chosen);
  const auto only = chosen.hold_id.empty() ? std::nullopt : std::optional{hold_id::parse(chosen.hold_id)};
  const bool released = db.release(name, only);
  const bool known = released || db.show(name).has_value();
  print_result(global, name, released,
               released ? fmt::format("released '{}'; its holders are notified", printable(name))
               : known  ? fmt::format("nobody held '{}'", name)
                        : fmt::format("there is no lock named '{}'", name));
  return known ? success : not_found;
}

}  // namespace

void add_release(command_syntax root) {
  auto command = root.add_subcommand(
      "release",
      "Release a hold of `rowlock acquire`; or a lock that others hold, by force or by a request to them.",
      "rowlock release --receipt \"$receipt\"\n"
      "  rowlock release billing/nightly --force\n"
      "  rowlock release billing/nightly --ask --reason deploy --within 1m --then-force");
  auto chosen = std::make_shared<release_words>();
  auto name = command.add("NAME", chosen->name, "The name of a lock that others hold");
  auto receipt =
      command
          .add("--receipt", chosen->receipt, "Release this hold of acquire; -: read it from standard input")
          .value_name("RECEIPT");
  auto hold = command.add("--hold", chosen->hold_id, "Release only this hold").value_name("HOLD_ID");
  auto force = command.add_flag("--force", chosen->force,
                                "Confirm that the holders lose the lock, even if they are at work");
  auto ask = command.add_flag("--ask", chosen->ask, "Request that the holders release it, and wait for them");
  command.add("--reason", chosen->reason, "The reason that the holders see")
      .value_name("TEXT")
      .may_be_empty()
      .needs(ask);
  command.add("--within", chosen->within, "How long to wait for the holders (default 30s)")
      .value_name("DURATION")
      .needs(ask);
  command
      .add_flag("--then-force", chosen->then_force, "Release it by force if it is still held after --within")
      .needs(ask);
  ask.excludes(force).excludes(hold);
  receipt.excludes(name).excludes(hold).excludes(force).excludes(ask);
  command.set_action([chosen](const context& global) { return release(global, *chosen); });
}

}  // namespace rowlock::cli
