// Finds what has changed between two readings of the locks.
#pragma once

#include <rowlock/admin.hpp>

#include <map>
#include <string>
#include <vector>

namespace rowlock::cli {

struct lock_change_line {
  std::string name;
  enum class what { seen, changed, gone } change = what::seen;
  std::optional<lock_info> lock;  // as it is now; empty: gone
};

const char* to_string(lock_change_line::what change) noexcept;

// "free", or who holds it since when, the data of the first holder, and who waits. Without durations: the text changes
// only with the lock.
std::string state_text(const lock_info& lock);

// Keeps a short text of each lock, not the lock itself.
class lock_changes {
 public:
  // Takes a part of a reading. Returns the locks that are new or changed since the last reading. Durations
  // are no change.
  std::vector<lock_change_line> look_at(const std::vector<lock_info>& locks);
  // After the last part: the locks that the reading did not show.
  std::vector<lock_change_line> finish();

 private:
  struct known {
    std::string state;
    bool is_there = true;  // in this look
  };
  std::map<std::string, known> locks_;
};

}  // namespace rowlock::cli
