// Unfair locks that this process has freed without a look at their queue. A sweep looks for their waiters a
// moment later, once for all releases in between.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/config.hpp>

#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe.
class pending_sweeps {
 public:
  // True: no sweep of that name is pending yet, so the caller submits one.
  bool add(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    return names_.insert(name).second;
  }
  // Call it before the look: a release that comes later then adds the name again.
  void take(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    names_.erase(name);
  }

 private:
  model::annotated_mutex mutex_;
  std::unordered_set<std::string> names_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
