// The holds of each thread on recursive locks, for re-entry without a round trip. A thread is identified by
// its owner id (model::id128::owner_of_this_thread).
#pragma once

#include "client/hold_registry.hpp"
#include "model/annotated_mutex.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class thread_entries {
 public:
  hold_ptr find(const std::string& name, std::uint64_t owner) const {
    const model::annotated_lock lock{mutex_};
    const auto found = entries_.find({name, owner});
    return found == entries_.end() ? nullptr : found->second.lock();
  }

  void put(const std::string& name, std::uint64_t owner, const hold_ptr& hold) {
    const model::annotated_lock lock{mutex_};
    entries_[{name, owner}] = hold;
    // Entries of holds that are over are removed when they have doubled the map, so on average each put
    // removes at most one.
    if (entries_.size() < 2 * alive_ + 16) return;
    std::erase_if(entries_, [](const auto& entry) { return entry.second.expired(); });
    alive_ = entries_.size();
  }

 private:
  mutable model::annotated_mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, std::weak_ptr<hold_state>> entries_
      ROWLOCK_GUARDED_BY(mutex_);
  std::size_t alive_ ROWLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace rowlock::client_layer
