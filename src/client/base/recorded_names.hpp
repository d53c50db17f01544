// The names whose history is recorded, as last read. Requests for them take the slow path, whose edits write the
// history; other names cost nothing.
#pragma once

#include "model/annotated_mutex.hpp"
#include "store/history_verbs.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe.
class recorded_names {
 public:
  // version: database_state::recordings.
  void use(std::int64_t version, std::vector<store::recording> recordings);
  // The version in use. 0: nothing was ever recorded.
  std::int64_t version() const { return version_.load(std::memory_order_relaxed); }

  bool contains(std::string_view name) const {
    return !empty_.load(std::memory_order_relaxed) && fits_a_pattern(name);
  }
  // The recording of that name; the one that keeps most, if several patterns match.
  std::optional<store::recording> find(std::string_view name) const;

  // Remembers a name of which this client has written history lines that it must prune: a thousand names at
  // most; `gc` prunes the others.
  void note_written(const std::string& name);
  bool has_written() const;
  std::vector<std::string> take_written();

 private:
  bool fits_a_pattern(std::string_view name) const;

  mutable model::annotated_mutex mutex_;
  std::vector<store::recording> recordings_ ROWLOCK_GUARDED_BY(mutex_);
  std::set<std::string> written_ ROWLOCK_GUARDED_BY(mutex_);
  std::atomic<bool> empty_ = true;
  std::atomic<std::int64_t> version_ = 0;
};

}  // namespace rowlock::client_layer
