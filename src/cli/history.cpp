#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

struct history_words {
  std::string name;
  std::int64_t limit = 50;
  std::string record;
  std::int64_t keep = 1000;
  std::string age = "30d";
  std::string stop;
  bool patterns = false;
};

json::object object_of(const history_line& line) {
  return {{"id", line.id},
          {"at", time_text(-line.ago)},
          {"event", line.event},
          {"token", line.token.value()},
          {"hold_id", line.hold_id.is_nil() ? "" : line.hold_id.to_string()},
          {"detail", line.detail},
          {"host", line.host},
          {"user", line.user},
          {"pid", line.pid},
          {"application", line.application},
          {"command", line.command}};
}

// The oldest first, as in a log.
int show_history(const context& global, const history_words& words) {
  admin db{global.connect_to_read()};
  auto lines = db.history(words.name, static_cast<std::size_t>(words.limit));
  std::ranges::reverse(lines);
  if (global.json) {
    json::array array;
    for (const auto& line : lines) array.push_back(object_of(line));
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
    json::array array;
    for (const auto& one : recorded) {
      array.push_back(json::object{{"pattern", one.pattern}, {"keep", one.keep}, {"age_h", one.age.count()}});
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

void add_history(command_syntax root) {
  auto command =
      root.add_subcommand("history", "Show what happened to a lock, or choose which names are recorded.",
                          "rowlock history --record 'billing/*' --keep 1000 --age 30d\n"
                          "  rowlock history billing/nightly\n"
                          "  rowlock history --stop 'billing/*'\n"
                          "Nothing is recorded by default. An acquire or release of a recorded name takes\n"
                          "one or two more round trips.");
  auto words = std::make_shared<history_words>();
  const auto name = command.add("NAME", words->name, "The lock's name");
  const auto limit = command.add("--limit", words->limit, "Show at most the latest N lines (default 50)")
                         .value_name("N")
                         .positive();
  const auto record_option =
      command.add("--record", words->record, "Record these names: a name, or a prefix and a *")
          .value_name("PATTERN");
  const auto keep = command.add("--keep", words->keep, "How many lines of each name are kept (default 1000)")
                        .value_name("N")
                        .positive();
  const auto age =
      command.add("--age", words->age, "How long they are kept (default 30d)").value_name("DURATION");
  const auto stop_option =
      command.add("--stop", words->stop, "Stop recording these names; gc deletes their history")
          .value_name("PATTERN");
  const auto patterns =
      command.add_flag("--patterns", words->patterns, "List the patterns of the names that are recorded");
  auto chosen = record_option;
  chosen.excludes(name).excludes(limit).excludes(stop_option).excludes(patterns);
  auto stopping = stop_option;
  stopping.excludes(name).excludes(limit).excludes(patterns);
  auto listing = patterns;
  listing.excludes(name).excludes(limit);
  auto kept = keep;
  kept.needs(record_option);
  auto aged = age;
  aged.needs(record_option);
  command.set_action([words](const context& global) {
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
