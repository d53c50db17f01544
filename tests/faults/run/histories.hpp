// Reads the histories of the workers while they are written.
#pragma once

#include "event.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rowlock::test {

class histories {
 public:
  explicit histories(std::filesystem::path folder) : folder_{std::move(folder)} {}

  // Reads the lines that were written since the last call. Throws history::bad_history.
  void read();

  // All events, in the order in which they were read.
  const std::vector<history::event>& events() const noexcept { return events_; }
  // The first time, not before `since`, at which somebody wrote under the lock and released it.
  std::optional<std::int64_t> first_work(const std::string& name, std::int64_t since) const;
  // The processes that were granted a mutex and have not begun to release it.
  std::set<std::string> holders() const;
  std::int64_t count(const std::string& op) const;
  std::int64_t highest_token() const noexcept { return highest_token_; }
  bool has_begun(const std::string& process) const { return open_holds_.contains(process); }

 private:
  void take(const history::event& now);

  const std::filesystem::path folder_;
  std::map<std::string, std::streamoff> read_;  // the position in each file
  std::vector<history::event> events_;
  std::map<std::string, std::vector<std::int64_t>> work_;    // by name
  std::map<std::string, std::set<std::string>> open_holds_;  // by process; of each that has written
  std::map<std::string, std::int64_t> counts_;
  std::int64_t highest_token_ = 0;
};

}  // namespace rowlock::test
