// The subcommands about one lock: show, queue and history.
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

namespace {

// A holder's own text may be longer than a line of the terminal.
std::string fitting(const std::string& text) {
  constexpr std::size_t first_column = std::string_view{"release requested  "}.size();
  constexpr std::size_t least = 12;
  const auto columns = terminal_columns();
  return cut(printable(text), columns > first_column + least ? columns - first_column : least);
}

void print(const lock_info& lock) {
  std::vector<std::vector<std::string>> rows{{"name", lock.name},
                                             {"kind", to_string(lock.kind)},
                                             {"used", fmt::format("{} of {}", lock.in_use, lock.capacity)},
                                             {"token", lock.token.to_string()},
                                             {"waiters", std::to_string(lock.waiters)}};
  for (const auto& holder : lock.holders) {
    rows.push_back({"holder", holder.rests
                                  ? holder_text(holder)
                                  : fmt::format("{}, pid {}, {}{}", holder.host, holder.pid,
                                                holder.application, is_expired(holder) ? " (expired)" : "")});
    if (!holder.user.empty()) rows.push_back({"  user", holder.user});
    if (!holder.command.empty()) rows.push_back({"  command", holder.command});
    if (!holder.data.empty()) rows.push_back({"  data", fitting(holder.data)});
    rows.push_back({"  hold", holder.hold_id.to_string()});
    rows.push_back(
        {"  mode", fmt::format("{}, {} of {}", to_string(holder.mode), holder.weight, lock.capacity)});
    rows.push_back({"  token", holder.token.to_string()});
    rows.push_back({"  held for", fmt::format("{}, since {}", format_duration(holder.held_for),
                                              time_text(-holder.held_for))});
    rows.push_back({"  expires in", fmt::format("{}, at {}", format_duration(holder.expires_in),
                                                time_text(holder.expires_in))});
  }
  if (is_held_by_the_dead(lock)) rows.push_back({"holder", "(dead)"});
  if (lock.request) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lock.request->remaining);
    rows.push_back({"release requested", lock.request->reason});
    rows.push_back({"  valid for", format_duration(left)});
  }
  fmt::print("{}", table(rows));
}

int show(const context& global, const std::string& name) {
  const auto lock = admin{global.connect_to_read()}.show(name);
  if (global.json) {
    std::vector<json> array;
    if (lock) array.push_back(to_json(*lock));
    print_json(array);
  } else if (lock) {
    print(*lock);
  }
  if (!lock) global.note(fmt::format("there is no lock named '{}'", name));
  return lock ? success : not_found;
}

void print(const std::vector<waiter_info>& waiters) {
  std::vector<std::vector<std::string>> rows{{"TICKET", "USER", "HOST", "PID", "APPLICATION", "COMMAND",
                                              "MODE", "WEIGHT", "HOLD", "LEASE EXPIRES IN"}};
  for (const auto& waiter : waiters) {
    rows.push_back({std::to_string(waiter.ticket), waiter.user, waiter.host, std::to_string(waiter.pid),
                    waiter.application, waiter.command, to_string(waiter.mode), std::to_string(waiter.weight),
                    waiter.hold_id.to_string(),
                    waiter.alive ? format_duration(waiter.expires_in) : "gone; will be skipped"});
  }
  fmt::print("{}", table(rows));
}

int queue(const context& global, const std::string& name) {
  admin db{global.connect_to_read()};
  const auto waiters = db.queue(name);
  if (global.json) {
    std::vector<json> array;
    for (const auto& waiter : waiters) array.push_back(to_json(waiter));
    print_json(array);
  } else if (!waiters.empty()) {
    print(waiters);
  }
  if (!waiters.empty()) return success;
  if (!db.show(name)) {
    global.note(fmt::format("there is no lock named '{}'", name));
    return not_found;
  }
  global.note(fmt::format("nobody waits for '{}'", name));
  return success;
}

int cycles(const context& global) {
  const auto found = admin{global.connect_to_read()}.cycles();
  if (global.json) {
    std::vector<json> array;
    for (const auto& cycle : found) {
      auto members = json::array();
      for (const auto& [name, waiter] : cycle) {
        members.push_back(json::object({{"waits_for", name}, {"waiter", to_json(waiter)}}));
      }
      array.push_back(members);
    }
    print_json(array);
    return success;
  }
  std::vector<std::vector<std::string>> rows{{"HOST", "PID", "APPLICATION", "WAITS FOR", "BLOCKED BY"}};
  const auto described = [](const waiter_info& waiter) {
    return fmt::format("{} {}", waiter.host, waiter.pid);
  };
  for (const auto& cycle : found) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto& [name, waiter] = cycle[i];
      rows.push_back({waiter.host, std::to_string(waiter.pid), waiter.application, name,
                      described(cycle[(i + 1) % cycle.size()].waiter)});
    }
  }
  if (found.empty()) {
    global.note("there is no deadlock");
  } else {
    fmt::print("{}", table(rows));
  }
  return success;
}

struct history_words {
  std::string name;
  std::int64_t limit = 50;
  std::string record;
  std::int64_t keep = 1000;
  std::string age = "30d";
  std::string stop;
  bool patterns = false;
};

// Shows the oldest line first, as a log does.
int show_history(const context& global, const history_words& words) {
  admin db{global.connect_to_read()};
  auto lines = db.history(words.name, static_cast<std::size_t>(words.limit));
  std::ranges::reverse(lines);
  if (global.json) {
    std::vector<json> array;
    for (const auto& line : lines) array.push_back(to_json(line));
    print_json(array);
  } else if (!lines.empty()) {
    std::vector<std::vector<std::string>> rows{{"TIME", "EVENT", "TOKEN", "WHO", "DETAIL"}};
    for (const auto& line : lines) {
      rows.push_back(
          {time_text(-line.ago), line.event, line.token == fencing_token{} ? "" : line.token.to_string(),
           line.host.empty() ? "" : who_text(line.user, line.host, line.pid, line.application, line.command),
           line.detail});
    }
    fmt::print("{}", table(rows));
  }
  if (lines.empty()) global.note(fmt::format("'{}' has no history; see: rowlock history --help", words.name));
  return lines.empty() ? not_found : success;
}

int show_patterns(const context& global) {
  const auto recorded = admin{global.connect_to_read()}.recordings();
  if (global.json) {
    std::vector<json> array;
    for (const auto& one : recorded) {
      array.push_back(
          json::object({{"pattern", one.pattern}, {"keep", one.keep}, {"age_h", one.age.count()}}));
    }
    print_json(array);
    return success;
  }
  std::vector<std::vector<std::string>> rows{{"PATTERN", "KEEP", "AGE"}};
  for (const auto& one : recorded) {
    rows.push_back({one.pattern, std::to_string(one.keep), format_duration(one.age)});
  }
  if (recorded.empty()) {
    global.note("no name is recorded");
  } else {
    fmt::print("{}", table(rows));
  }
  return success;
}

int record(const context& global, const history_words& words) {
  const auto age = std::chrono::ceil<std::chrono::hours>(parse_duration("--age", words.age));
  admin{global.connect()}.record({words.record, words.keep, age});
  global.note(fmt::format("'{}' is recorded; running clients start with their next renewal", words.record));
  return success;
}

int stop(const context& global, const history_words& words) {
  if (admin{global.connect()}.stop_recording(words.stop)) return success;
  global.note(fmt::format("'{}' was not recorded; see: rowlock history --patterns", words.stop));
  return not_found;
}

}  // namespace

void add_show(command_line& program) {
  auto& command = add_subcommand(program.root(), "show",
                                 "Show one lock and its holders. Exit code 1: there is no such lock.",
                                 "rowlock show billing/nightly");
  auto name = std::make_shared<std::string>();
  add_nonempty(command, "NAME", *name, "The lock's name")->required();
  program.set_action(command, [name](const context& global) { return show(global, *name); });
}

void add_queue(command_line& program) {
  auto& command = add_subcommand(program.root(), "queue",
                                 "Show the waiters of a lock, the first one first; or show all deadlocks.",
                                 "rowlock queue billing/nightly\n  rowlock queue --cycles");
  auto name = std::make_shared<std::string>();
  auto circles = std::make_shared<bool>(false);
  auto* named = add_nonempty(command, "NAME", *name, "The lock's name");
  command.add_flag("--cycles", *circles, "Show waiters that wait for each other's locks, over all names")
      ->excludes(named);
  program.set_action(command, [name, circles](const context& global) {
    if (*circles) return cycles(global);
    if (name->empty()) {
      throw error(errc::invalid_argument, "NAME or --cycles is required; see: rowlock queue --help");
    }
    return queue(global, *name);
  });
}

void add_history(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "history", "Show what happened to a lock, or choose which names are recorded.",
      "rowlock history --record 'billing/*' --keep 1000 --age 30d\n"
      "  rowlock history billing/nightly\n"
      "  rowlock history --stop 'billing/*'\n"
      "Nothing is recorded by default. An acquire or release of a recorded name takes\n"
      "one or two more round trips.");
  auto words = std::make_shared<history_words>();
  auto* name = add_nonempty(command, "NAME", words->name, "The lock's name");
  auto* limit = add_nonempty(command, "--limit", words->limit, "Show at most the latest N lines (default 50)")
                    ->type_name("N")
                    ->check(is_positive());
  auto* record_option =
      add_nonempty(command, "--record", words->record, "Record these names: a name, or a prefix and a *")
          ->type_name("PATTERN");
  add_nonempty(command, "--keep", words->keep, "How many lines of each name are kept (default 1000)")
      ->type_name("N")
      ->check(is_positive())
      ->needs(record_option);
  add_nonempty(command, "--age", words->age, "How long they are kept (default 30d)")
      ->type_name("DURATION")
      ->needs(record_option);
  auto* stop_option =
      add_nonempty(command, "--stop", words->stop, "Stop recording these names; gc deletes their history")
          ->type_name("PATTERN");
  auto* patterns =
      command.add_flag("--patterns", words->patterns, "List the patterns of the names that are recorded");
  record_option->excludes(name)->excludes(limit)->excludes(stop_option)->excludes(patterns);
  stop_option->excludes(name)->excludes(limit)->excludes(patterns);
  patterns->excludes(name)->excludes(limit);
  program.set_action(command, [words](const context& global) {
    if (words->patterns) return show_patterns(global);
    if (!words->record.empty()) return record(global, *words);
    if (!words->stop.empty()) return stop(global, *words);
    if (words->name.empty()) {
      throw error(errc::invalid_argument,
                  "NAME, --record, --stop or --patterns is required; see: rowlock history --help");
    }
    return show_history(global, *words);
  });
}

}  // namespace rowlock::cli
