#include "store/sql_catalog.hpp"

#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace rowlock::store {

namespace {

constexpr std::string_view name_marker = "-- name: ";
constexpr std::string_view only_marker = "-- only: ";

// The values of the words like :name in statements. If C++ uses a value too, it is computed from the C++ constant.
std::vector<std::pair<std::string_view, std::string>> constants() {
  return {
      // One row more than a lock_view shows: it tells whether the queue is longer.
      {":queue_read_limit", std::to_string(queue_window + 1)},
      {":seconds_per_old_epoch", std::to_string(model::seconds_per_old_epoch)},
      {":tokens_per_epoch", std::to_string(model::epoch_floor(1))},
      {":tokens_per_us",
       fmt::format("{}.{:06}", model::epoch_floor(1) / 1'000'000, model::epoch_floor(1) % 1'000'000)},
      {":new_name_lag", std::to_string(model::new_name_lag)},
      // MySQL: the smallest token of the epoch, from the row m of meta. A library that knows only schema
      // version 1 raises m.epoch instead of m.epoch_floor.
      {":epoch_floor", fmt::format("GREATEST(m.epoch_floor, m.epoch * {})",
                                   model::epoch_floor(1) * model::seconds_per_old_epoch)},
      // MySQL: the smallest token that may be granted now, from the same row.
      {":floor", fmt::format("GREATEST(m.token_floor, m.epoch_floor, m.epoch * {})",
                             model::epoch_floor(1) * model::seconds_per_old_epoch)},
      // MySQL: whether somebody has made the server read-only. A user with SUPER or READ_ONLY ADMIN can still
      // write, but must not: another server may have been promoted.
      {":read_only", "CONCAT(@@GLOBAL.read_only) NOT IN ('0', 'OFF')"},
      // MySQL: what a statement that grants or kills compares with the recorded identity.
      {":this_server", "IF(CONCAT(@@GLOBAL.read_only) IN ('0', 'OFF'), :identity, 'read-only')"},
      // More rows than a batch can have. A limit keeps MySQL from merging a derived table into its statement.
      {":all_rows", "1000000"},
      {":never_us", std::to_string(std::numeric_limits<std::int64_t>::max())},
      // SQLite's clock: whole milliseconds, as microseconds since 1970. A julian day is a floating-point number that
      // is up to 20 us off; the rounding makes differences between two readings exact.
      {":now_us", "(CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000)"},
  };
}

std::string with_constants(std::string sql) {
  for (const auto& [word, value] : constants()) {
    for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word, at)) {
      const auto end = at + word.size();
      const bool is_longer_word = end < sql.size() && is_identifier_char(sql[end]);
      if (!is_longer_word) sql.replace(at, word.size(), value);
      at += is_longer_word ? word.size() : value.size();
    }
  }
  return sql;
}

[[noreturn]] void refuse(std::string_view file, std::string_view problem) {
  throw error(errc::internal, "SQL file " + std::string{file} + ": " + std::string{problem});
}

// The statements of one file, in order.
class file_reader {
 public:
  struct statement {
    std::string name;
    std::string text;
  };

  explicit file_reader(const embedded::file& file) : file_{file.name} {
    for (auto rest = file.text; !rest.empty();) {
      const auto end = rest.find('\n');
      read(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    finish();
  }

  std::vector<statement> take() { return std::move(finished_); }

 private:
  void read(std::string_view line) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    if (line.starts_with(name_marker)) {
      if (has_text_) finish();
      open_.push_back({std::string{line.substr(name_marker.size())}, {}});
      return;
    }
    const auto marker = line.find(only_marker);
    if (marker == std::string_view::npos) {
      if (!line.substr(first).starts_with("--")) add(line, {});
      return;
    }
    const auto behind = line.substr(marker + only_marker.size());
    const auto only = behind.substr(0, behind.find(' '));
    add(marker == first ? behind.substr(only.size()) : line.substr(0, marker), only);
  }

  // only: the one statement that the line belongs to. Empty: it belongs to all that are open.
  void add(std::string_view line, std::string_view only) {
    if (open_.empty()) refuse(file_, "a statement has no name");
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    if (!only.empty() && std::ranges::find(open_, only, &statement::name) == open_.end()) {
      refuse(file_, "a line is only for " + std::string{only} + ", which does not have that text");
    }
    for (auto& each : open_) {
      if (!only.empty() && each.name != only) continue;
      if (!each.text.empty()) each.text += '\n';
      each.text += line;
    }
    has_text_ = true;
  }

  void finish() {
    for (auto& each : open_) {
      // A semicolon makes the file valid for other tools; a prepared statement must not have one.
      while (each.text.ends_with(';') || each.text.ends_with('\n')) each.text.pop_back();
      if (each.text.empty()) refuse(file_, "the statement " + each.name + " is empty");
      finished_.push_back(std::move(each));
    }
    open_.clear();
    has_text_ = false;
  }

  std::string_view file_;
  std::vector<statement> open_;  // the names above the text that is read now
  bool has_text_ = false;
  std::vector<statement> finished_;
};

}  // namespace

std::string with_prefix(std::string_view sql, std::string_view prefix) {
  static constexpr std::string_view shipped = "rowlock_";
  std::string result;
  std::size_t from = 0;
  for (auto at = sql.find(shipped); at != std::string_view::npos; at = sql.find(shipped, from)) {
    const bool starts_identifier = at == 0 || !is_identifier_char(sql[at - 1]);
    result += sql.substr(from, at - from);
    result += starts_identifier ? prefix : shipped;
    from = at + shipped.size();
  }
  result += sql.substr(from);
  return result;
}

sql_catalog::sql_catalog(std::span<const embedded::file> files, std::string_view prefix) {
  for (const auto& file : files) {
    for (auto& [name, text] : file_reader{file}.take()) {
      auto sql = with_prefix(with_constants(std::move(text)), prefix);
      if (!statements_.emplace(name, std::move(sql)).second) {
        refuse(file.name, "the statement " + name + " stands twice");
      }
    }
  }
}

const std::string& sql_catalog::operator[](std::string_view name) const {
  const auto found = statements_.find(name);
  if (found == statements_.end()) throw error(errc::internal, "no statement is named " + std::string{name});
  return found->second;
}

bool sql_catalog::uses(std::string_view name) const {
  const auto contains_word = [&](const std::string& sql) {
    for (auto at = sql.find(name); at != std::string::npos; at = sql.find(name, at + 1)) {
      const auto end = at + name.size();
      if ((at == 0 || !is_identifier_char(sql[at - 1])) &&
          (end == sql.size() || !is_identifier_char(sql[end])))
        return true;
    }
    return false;
  };
  return std::ranges::any_of(statements_, [&](const auto& each) { return contains_word(each.second); });
}

}  // namespace rowlock::store
