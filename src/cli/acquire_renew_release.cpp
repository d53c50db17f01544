// The subcommands acquire, renew and release. acquire makes a hold that outlives the command, and prints the receipt of
// the hold, which hold::transfer returns.
#include "cli/exit_code.hpp"
#include "cli/lock_request.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// Returns the word, or, if the word is "-", the contents of standard input, because other users of the machine can read
// a command line.
std::string receipt_of(const std::string& word) {
  if (word != "-") return word;
  std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  // A name may end in a space, but contains no line break.
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

// Reports on stderr that the hold of a receipt is over. Returns the exit code.
int tell_of_loss(const context& global) {
  global.print_to_stderr(
      "the hold of this receipt is over: it has expired, or somebody has released it or taken it over");
  return hold_lost;
}

struct acquire_words {
  lock_words lock;
  std::string ttl;
};

// Checks the ttl as hold::transfer does, but before the command waits for the lock.
milliseconds checked_ttl(const std::string& text) {
  const auto ttl = parse_duration("--ttl", text);
  if (ttl >= 100ms && ttl <= 24h) return ttl;
  throw error(errc::invalid_argument, fmt::format("--ttl {} is outside 100ms to 24h", format_duration(ttl)));
}

void print_receipt(const context& global, json members, const std::string& receipt) {
  if (global.json) {
    members["receipt"] = receipt;
    print_json({members});
  } else {
    std::fputs((receipt + "\n").c_str(), stdout);
  }
}

// A hold whose receipt nobody can read would last for the whole ttl, so it is released.
int print_or_release(const context& global, const client& db, const json& members,
                     const std::string& receipt) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    print_receipt(global, members, receipt);
    if (is_output_written()) return success;
  } catch (const std::system_error&) {  // thrown by fmt::print
  }
  auto held = adopt(db, receipt);
  const auto name = held.name();
  held.release();
  global.print_to_stderr(fmt::format("the receipt cannot be written; '{}' is released", name));
  return software;
}

int acquire(const context& global, const acquire_words& words) {
  const auto ttl = checked_ttl(words.ttl);
  const auto limit = words.lock.limit();
  const auto db = global.connect();
  const auto ask = request_for(db, words.lock);
  signal_queue signals;
  signals.block_until_exit();
  hold held;
  const int signal = until_signal(signals, [&](std::stop_token stop) {
    const wait_report waiting{global, db, words.lock.name};
    held = ask(limit, {.stop = std::move(stop)});
    waiting.tell_end(held.token());
  });
  if (signal != 0) {
    held.release();
    return by_signal + signal;
  }
  const auto& name = words.lock.name;
  if (held.token() == fencing_token{}) {
    global.note(fmt::format("'{}' is busy{}", name, who_keeps(global, db, name)));
    return words.lock.busy_code;
  }
  const auto token = held.token().value();
  const auto receipt = held.transfer(ttl);
  return print_or_release(global, db,
                          json::object({{"name", name}, {"token", token}, {"ttl_ms", ttl.count()}}), receipt);
}

int renew(const context& global, const std::string& receipt_word, const std::string& ttl) {
  const auto receipt = receipt_of(receipt_word);
  const auto length = ttl.empty() ? milliseconds{0} : checked_ttl(ttl);
  const auto db = global.connect();
  if (!extend(db, receipt)) return tell_of_loss(global);
  if (ttl.empty()) {
    print_receipt(global, json::object(), receipt);
    return success;
  }
  auto held = adopt(db, receipt);
  if (!held) return tell_of_loss(global);
  return print_or_release(global, db, json::object(), held.transfer(length));
}

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
    print_json({json::object({{"name", name}, {"released", released}})});
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
  const release_request_options how{.reason = chosen.reason,
                                    .within = parse_duration("--within", chosen.within),
                                    .then_force = chosen.then_force};
  switch (db.request_release(name, how)) {
    case release_request_result::unheld:
      print_result(global, name, false, fmt::format("nobody held '{}'", name));
      break;
    case release_request_result::released:
      print_result(global, name, true, fmt::format("the holders released '{}'", printable(name)));
      break;
    case release_request_result::forced:
      print_result(global, name, true,
                   fmt::format("released '{}' by force; its holders are notified", printable(name)));
      break;
    case release_request_result::kept:
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
  if (global.json) print_json({json::object({{"released", result == release_result::released}})});
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
    throw error(errc::invalid_argument,
                "this takes the lock from a holder that may be at work; "
                "confirm with --force, or ask the holder with --ask");
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

void add_acquire(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "acquire", "Acquire a lock that outlives this command, and print a receipt for it.",
      "receipt=$(rowlock acquire billing/nightly --ttl 10m --wait 30s)\n"
      "  ./bill-everyone && rowlock renew \"$receipt\" && ./send-bills\n"
      "  rowlock release --receipt \"$receipt\"\n"
      "The lock is held until it is released or its ttl has passed. Exit code 75: busy.");
  auto words = std::make_shared<acquire_words>();
  add_name_and_wait(command, words->lock);
  add_kind_and_data(command, words->lock);
  add_nonempty(command, "--ttl", words->ttl,
               "How long the hold lasts if it is neither renewed nor released: 100ms to 24h")
      ->required()
      ->type_name("DURATION");
  program.set_action(command, [words](const context& global) { return acquire(global, *words); });
}

void add_renew(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "renew",
      "Extend a hold of `rowlock acquire` to its full ttl from now. Exit code 76: it was lost.",
      "rowlock renew \"$receipt\"\n"
      "  receipt=$(rowlock renew \"$receipt\" --ttl 1h)\n"
      "  rowlock renew - <receipt.txt\n"
      "It prints the receipt. With --ttl it prints a new one, and the old one is void.");
  auto receipt = std::make_shared<std::string>();
  auto ttl = std::make_shared<std::string>();
  add_nonempty(command, "RECEIPT", *receipt,
               "The receipt that acquire has printed; -: read it from standard input")
      ->required();
  add_nonempty(command, "--ttl", *ttl, "Change the ttl; prints a new receipt")->type_name("DURATION");
  program.set_action(command,
                     [receipt, ttl](const context& global) { return renew(global, *receipt, *ttl); });
}

void add_release(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "release",
      "Release a hold of `rowlock acquire`; or a lock that others hold, by force or by a request to them.",
      "rowlock release --receipt \"$receipt\"\n"
      "  rowlock release billing/nightly --force\n"
      "  rowlock release billing/nightly --ask --reason deploy --within 1m --then-force");
  auto chosen = std::make_shared<release_words>();
  auto* name = add_nonempty(command, "NAME", chosen->name, "The name of a lock that others hold");
  auto* receipt = add_nonempty(command, "--receipt", chosen->receipt,
                               "Release this hold of acquire; -: read it from standard input")
                      ->type_name("RECEIPT");
  auto* hold =
      add_nonempty(command, "--hold", chosen->hold_id, "Release only this hold")->type_name("HOLD_ID");
  auto* force = command.add_flag("--force", chosen->force,
                                 "Confirm that the holders lose the lock, even if they are at work");
  auto* ask =
      command.add_flag("--ask", chosen->ask, "Request that the holders release it, and wait for them");
  command.add_option("--reason", chosen->reason, "The reason that the holders see")
      ->type_name("TEXT")
      ->needs(ask);
  add_nonempty(command, "--within", chosen->within, "How long to wait for the holders (default 30s)")
      ->type_name("DURATION")
      ->needs(ask);
  command
      .add_flag("--then-force", chosen->then_force, "Release it by force if it is still held after --within")
      ->needs(ask);
  ask->excludes(force)->excludes(hold);
  receipt->excludes(name)->excludes(hold)->excludes(force)->excludes(ask);
  program.set_action(command, [chosen](const context& global) { return release(global, *chosen); });
}

}  // namespace rowlock::cli
