#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/lock_words.hpp"
#include "cli/receipt.hpp"
#include "cli/subcommands.hpp"
#include "cli/until_signal.hpp"
#include "cli/wait_report.hpp"

#include <rowlock/adopt.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <system_error>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct acquire_words {
  lock_words lock;
  std::string ttl;
};

// The same check as in hold::transfer, but before the wait.
milliseconds checked_ttl(const std::string& text) {
  const auto ttl = parse_duration("--ttl", text);
  if (ttl >= 100ms && ttl <= 24h) return ttl;
  throw error(errc::invalid_argument, fmt::format("--ttl {} is outside 100ms to 24h", format_duration(ttl)));
}

void print_receipt(const context& global, const json::object& members, const std::string& receipt) {
  if (global.json) {
    auto all = members;
    all.emplace_back("receipt", receipt);
    print_json({all});
  } else {
    std::fputs((receipt + "\n").c_str(), stdout);
  }
}

// A hold whose receipt nobody can read would last for the whole ttl, so it is released.
int print_or_release(const context& global, const client& db, const json::object& members,
                     const std::string& receipt) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    print_receipt(global, members, receipt);
    if (is_output_written()) return success;
  } catch (const std::system_error&) {
  }  // thrown by fmt::print
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
  if (!held) {
    global.note(fmt::format("'{}' is busy{}", name, who_keeps(global, db, name)));
    return words.lock.busy_code;
  }
  const auto token = held.token().value();
  const auto receipt = held.transfer(ttl);
  return print_or_release(global, db, {{"name", name}, {"token", token}, {"ttl_ms", ttl.count()}}, receipt);
}

int renew(const context& global, const std::string& receipt_word, const std::string& ttl) {
  const auto receipt = receipt_of(receipt_word);
  const auto length = ttl.empty() ? milliseconds{0} : checked_ttl(ttl);
  const auto db = global.connect();
  if (!extend(db, receipt)) return tell_of_loss(global);
  if (ttl.empty()) {
    print_receipt(global, {}, receipt);
    return success;
  }
  auto held = adopt(db, receipt);
  if (!held) return tell_of_loss(global);
  return print_or_release(global, db, {}, held.transfer(length));
}

}  // namespace

void add_acquire(command_syntax root) {
  auto command =
      root.add_subcommand("acquire", "Acquire a lock that outlives this command, and print a receipt for it.",
                          "receipt=$(rowlock acquire billing/nightly --ttl 10m --wait 30s)\n"
                          "  ./bill-everyone && rowlock renew \"$receipt\" && ./send-bills\n"
                          "  rowlock release --receipt \"$receipt\"\n"
                          "The lock is held until it is released or its ttl has passed. Exit code 75: busy.");
  auto words = std::make_shared<acquire_words>();
  add_name_and_wait(command, words->lock);
  add_kind_and_data(command, words->lock);
  command
      .add("--ttl", words->ttl, "How long the hold lasts if it is neither renewed nor released: 100ms to 24h")
      .required()
      .value_name("DURATION");
  command.set_action([words](const context& global) { return acquire(global, *words); });
}

void add_renew(command_syntax root) {
  auto command = root.add_subcommand(
      "renew", "Extend a hold of `rowlock acquire` to its full ttl from now. Exit code 76: it was lost.",
      "rowlock renew \"$receipt\"\n"
      "  receipt=$(rowlock renew \"$receipt\" --ttl 1h)\n"
      "  rowlock renew - <receipt.txt\n"
      "It prints the receipt. With --ttl it prints a new one, and the old one is void.");
  auto receipt = std::make_shared<std::string>();
  auto ttl = std::make_shared<std::string>();
  command.add("RECEIPT", *receipt, "The receipt that acquire has printed; -: read it from standard input")
      .required();
  command.add("--ttl", *ttl, "Change the ttl; prints a new receipt").value_name("DURATION");
  command.set_action([receipt, ttl](const context& global) { return renew(global, *receipt, *ttl); });
}

}  // namespace rowlock::cli
