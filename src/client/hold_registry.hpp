// The holds of this process, and those whose release is not yet known to have survived.
#pragma once

#include "client/context.hpp"
#include "client/hold_state.hpp"
#include "store/store.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace rowlock::client_layer {

using hold_ptr = std::shared_ptr<hold_state>;

// Thread-safe.
class hold_registry {
 public:
  void add(const hold_ptr& hold);
  void remove(const hold_state& hold);

  std::vector<hold_ptr> all() const;
  std::vector<hold_ptr> on(const lease& lease) const;
  // Holds on explicit-ttl leases whose deadline has passed.
  std::vector<hold_ptr> overdue(instant now) const;
  // The first deadline of an explicit-ttl lease.
  std::optional<instant> next_deadline() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<model::hold_id, hold_ptr> holds_;
  std::size_t explicit_ =
      0;  // how many are on explicit-ttl leases: usually none, and then nothing is searched
};

// Asynchronous releases, until a renewal that was sent after their answer has seen the same marker (I8).
class recent_releases {
 public:
  struct entry {
    std::string name;
    model::hold_id hold;
    std::shared_ptr<client_layer::lease> lease;
    instant answered_at;
  };

  // True when there are so many that a renewal should come early.
  bool add(entry release);
  // They are on disk: forgets those answered before.
  void confirm(instant sent_at);
  // They may be lost: hands them all over.
  std::vector<entry> take_all();

 private:
  mutable std::mutex mutex_;
  std::vector<entry> entries_;
};

}  // namespace rowlock::client_layer
