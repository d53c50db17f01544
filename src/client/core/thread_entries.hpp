// The holds of each thread on recursive mutexes, for re-entry without a round trip. Unlike thread_holds, it does not
// own them, and all mutexes of one client and name share them.
#pragma once

#include "client/core/hold_registry.hpp"
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
  // The calling thread's hold. Null: it has none.
  hold_ptr find(const std::string& name) const {
    const model::annotated_lock lock{mutex_};
    const auto found = entries_.find({name, model::hold_id::owner_of_this_thread()});
    return found == entries_.end() ? nullptr : found->second.lock();
  }

  void put(const hold_ptr& hold) {
    const model::annotated_lock lock{mutex_};
    entries_[{hold->name(), model::hold_id::owner_of_this_thread()}] = hold;
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
