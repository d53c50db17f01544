// The subcommands that look after a database: sweep, gc, epoch and doctor.
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/doctor.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::cli {

namespace {

int sweep(const context& global) {
  const auto done = admin{global.connect()}.sweep();
  if (global.json) {
    print_json({json::object({{"leases", done.leases}, {"locks", done.locks}})});
  } else {
    fmt::print("killed {}, cleaned {}\n", count_of(done.leases, "expired lease"),
               count_of(done.locks, "lock"));
  }
  return success;
}

int gc(const context& global, const std::string& idle) {
  const auto unused = parse_duration("--idle", idle);
  const auto deleted = admin{global.connect()}.collect(unused);
  if (global.json) {
    print_json({json::object({{"deleted", deleted}})});
  } else {
    fmt::print("deleted {}\n", count_of(deleted, "lock"));
  }
  return success;
}

int print_epoch(const context& global, std::int64_t epoch) {
  if (global.json) {
    print_json({json::object({{"epoch", epoch}})});
  } else {
    fmt::print("{}\n", epoch);
  }
  return success;
}

int raise(const context& global, std::int64_t above) {
  // admin::raise_epoch makes this check, too, but only after the command has connected.
  if (above < 0 || above >= std::int64_t{1} << 52) {
    throw error(errc::invalid_argument, fmt::format("--above {} is outside 0 to 2^52 - 1", above));
  }
  return print_epoch(global, admin{global.connect()}.raise_epoch(fencing_token{above}));
}

int print_skew(const context& global, std::chrono::milliseconds skew) {
  if (global.json) {
    print_json({json::object({{"skew_ms", skew.count()}})});
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

int doctor(const context& global) {
  const auto findings = diagnose(global.database_url(), global.reading_options());
  if (global.json) {
    std::vector<json> array;
    for (const auto& one : findings) array.push_back(to_json(one));
    print_json(array);
  } else {
    fmt::print("{}", findings_text(findings));
  }
  return std::ranges::count(findings, severity::error, &finding::level) == 0 ? success : found_errors;
}

}  // namespace

void add_sweep(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "sweep",
      "Kill expired leases and release what they held. Clients do this too; running it is harmless.",
      "rowlock sweep");
  program.set_action(command, sweep);
}

void add_gc(command_line& program) {
  auto& command =
      add_subcommand(program.root(), "gc",
                     "Delete free locks that nobody has used for a long time. Their tokens keep rising.",
                     "rowlock gc --idle 30d");
  auto idle = std::make_shared<std::string>();
  add_nonempty(command, "--idle", *idle, "Delete locks that nobody has acquired for this long, such as 30d")
      ->required()
      ->type_name("DURATION");
  program.set_action(command, [idle](const context& global) { return gc(global, *idle); });
}

void add_epoch(command_line& program) {
  auto& command =
      add_subcommand(program.root(), "epoch",
                     "Show or raise the epoch, which keeps tokens rising after a restore from a backup.",
                     "rowlock epoch raise --above 123456");
  const auto show = [](const context& global) {
    return print_epoch(global, admin{global.connect_to_read()}.epoch());
  };
  program.set_action(command, show);
  program.set_action(add_subcommand(command, "show", "Print the epoch (the default).", "rowlock epoch show"),
                     show);

  auto& up = add_subcommand(command, "raise",
                            "Raise the epoch after a restore from a backup, before clients connect.",
                            "rowlock epoch raise --above 123456");
  auto above = std::make_shared<std::int64_t>(0);
  add_nonempty(up, "--above", *above, "The highest token that anybody has seen; all later tokens are higher");
  program.set_action(up, [above](const context& global) { return raise(global, *above); });

  auto& skew = add_subcommand(
      command, "skew", "Show or store the skew: how much later than its expiry any client may kill a lease.",
      "rowlock epoch skew 2s");
  auto length = std::make_shared<std::string>();
  add_nonempty(skew, "DURATION", *length,
               "At least the difference between the clocks of servers that replace each other");
  program.set_action(skew, [length](const context& global) {
    if (length->empty()) return print_skew(global, admin{global.connect_to_read()}.skew());
    return store_skew(global, parse_duration("DURATION", *length));
  });
}

void add_doctor(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "doctor",
      "Check whether rowlock can keep its promises on this database. Exit code 1: it found errors.",
      "rowlock doctor --json");
  program.set_action(command, doctor);
}

}  // namespace rowlock::cli
