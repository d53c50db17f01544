// Unfair locks that this process has freed without a look at their queue. A sweep looks for their waiters a
// moment later, once for all releases in between.
#pragma once

#include <rowlock/config.hpp>

#include <mutex>
#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe.
class pending_sweeps {
 public:
  // True: no sweep of that name is pending yet, so the caller submits one.
  bool add(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return names_.insert(name).second;
  }
  // Call it before the look: a release that comes later then adds the name again.
  void take(const std::string& name) {
    const std::lock_guard lock{mutex_};
    names_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> names_;
};

}  // namespace rowlock::client_layer
