// The history of locks: which names are recorded, and reading it. An edit writes it (lock_change::history),
// in the transaction of the change.
#pragma once

#include "store/lock_verbs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// Which names are recorded, and how much is kept of each.
struct recording {
  std::string pattern;       // a name, or the beginning of names and a *
  std::int64_t keep = 0;     // how many of the latest lines of a name are kept
  std::chrono::hours age{};  // lines that are older are not kept
};

constexpr bool is_recorded(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// How much is kept of a name: the most that any matching pattern says. Empty: the name is not recorded.
inline std::optional<recording> recording_of(std::string_view name, std::span<const recording> recordings) {
  std::optional<recording> most;
  for (const auto& one : recordings) {
    if (!is_recorded(name, one.pattern)) continue;
    if (!most) most = one;
    most->keep = std::max(most->keep, one.keep);
    most->age = std::max(most->age, one.age);
  }
  return most;
}

// A line of a history, as it is read.
struct history_line {
  std::int64_t id = 0;  // rises
  history_entry entry;
  std::chrono::milliseconds ago{0};
  // The columns of the lease; empty if the lease was gone already.
  std::string host;
  std::string user;
  std::int64_t pid = 0;
  std::string application;
  std::string program;

  bool operator==(const history_line&) const = default;
};

// The rules for calling these verbs are those of session (store.hpp).
class history_verbs {
 public:
  virtual std::vector<recording> recordings() = 0;  // by pattern
  // Writes nothing. Throws error(privilege) if this role may not write lines: its edits of recorded names
  // would fail.
  virtual void check_history() = 0;
  // Adds or replaces the recording, and changes database_state::recordings.
  virtual void record(const recording& what) = 0;
  // Removes the recording with this pattern, and changes database_state::recordings. Returns false if there
  // was none. The lines that were recorded stay until prune_history() deletes them.
  virtual bool stop_recording(const std::string& pattern) = 0;

  // The latest lines of a name before line `before`, the latest first.
  virtual std::vector<history_line> read_history(const std::string& name, std::int64_t before,
                                                 std::size_t limit) = 0;
  // Deletes lines of a name that are too many or too old, at most `limit` of them. Returns how many.
  virtual std::int64_t prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                                     std::size_t limit) = 0;
  // The names that have a history, after that name, in bytewise order.
  virtual std::vector<std::string> names_with_history(const std::string& after, std::size_t limit) = 0;

 protected:
  ~history_verbs() = default;
};

}  // namespace rowlock::store
