// The tables as values: copying them is a snapshot, so a crash or a lossy fail-over is an assignment.
#pragma once

#include "store/history_verbs.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace rowlock::store {

using timestamp = std::chrono::microseconds;  // of the server's virtual clock, since 1970

struct memory_lease {
  lease_record record;
  timestamp expires_at{0};
  std::int64_t notice = 0;

  bool operator==(const memory_lease&) const = default;
};
inline bool is_too_long(const memory_lease& lease, timestamp now, std::chrono::microseconds skew) {
  return lease.expires_at > now + lease.record.ttl + skew;
}

struct memory_permit {
  model::permit permit;
  timestamp granted_at{0};
  std::optional<std::string> data{};

  bool operator==(const memory_permit&) const = default;
};

struct memory_lock {
  model::lock_row row;
  timestamp used_at{0};
  std::optional<std::string> value{};
  std::optional<release_request> request{};
  timestamp request_until{0};

  bool operator==(const memory_lock&) const = default;
};

struct memory_history_line {
  timestamp happened_at{0};
  history_line line{};

  bool operator==(const memory_history_line&) const = default;
};

// The tables of the database without the marker, which does not survive a crash.
struct memory_tables {
  std::map<lease_id, memory_lease> leases;
  std::map<std::string, memory_lock> locks;
  std::map<std::string, std::map<hold_id, memory_permit>> permits;      // by name
  std::map<std::string, std::map<std::int64_t, model::waiter>> queues;  // by name, then ticket
  std::map<std::string, std::int64_t> collections;  // by name: how often the lock was deleted
  std::int64_t epoch = 0;
  std::chrono::milliseconds skew{0};
  token token_floor = 0;
  std::string recorded_identity;
  std::map<std::string, recording> recordings;                                 // by pattern
  std::map<std::string, std::map<std::int64_t, memory_history_line>> history;  // by name, then id
  std::int64_t recordings_version = 0;

  // The smallest token that may be granted now.
  token floor() const { return std::max(token_floor, model::epoch_floor(epoch)); }
  const memory_lease* find_lease(const lease_id& id) const {
    const auto found = leases.find(id);
    return found == leases.end() ? nullptr : &found->second;
  }
};

}  // namespace rowlock::store
