// What the metrics say about the locks at one moment.
#pragma once

#include "serve/database.hpp"

#include <rowlock/admin.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rowlock::serve {

struct lock_snapshot {
  struct named {
    std::string name{};
    std::int64_t in_use = 0;
    std::int64_t waiters = 0;
    std::chrono::milliseconds oldest_waiter{0};
  };

  std::int64_t locks = 0;
  std::int64_t held = 0;  // in use by somebody, maybe with an expired lease
  std::int64_t waiters =
      0;  // without candidates of elections, which stand by for as long as another one leads
  std::int64_t expired_leases = 0;  // of holders, and not killed yet
  std::chrono::milliseconds oldest_waiter{0};
  std::int64_t epoch = 0;
  int schema_version = 0;
  bool is_cut = false;          // there are more locks than one reading reads
  std::vector<named> chosen{};  // whose names match, by name
  std::int64_t chosen_cut = 0;  // how many of those are left out
};

// Reads snapshots. The database does not say since when a waiter waits, so the reader remembers when it first saw each:
// a wait seems to begin with the first reading that finds it. Used by one thread.
class lock_snapshot_reader {
 public:
  // patterns: as of `rowlock list`; a name that matches one of them is chosen.
  explicit lock_snapshot_reader(std::vector<std::string> patterns) : patterns_{std::move(patterns)} {}

  // Reads at most 100,000 locks, a thousand at a time, and the queues of at most 200. Throws error.
  lock_snapshot read(database& db);

 private:
  using clock = std::chrono::steady_clock;
  struct queued {
    std::string name;
    bool is_chosen = false;
  };

  bool is_chosen(const std::string& name) const;
  void add(lock_snapshot& to, const lock_info& lock, std::vector<queued>& queues) const;
  void read_queues(database& db, std::vector<queued> queues, lock_snapshot& to);

  const std::vector<std::string> patterns_;
  std::map<hold_id, clock::time_point> first_seen_;
};

}  // namespace rowlock::serve
