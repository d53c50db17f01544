// The unfair locks that this process has freed without reading their queue. A moment later a sweep looks for
// their waiters, once for all releases until then.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/config.hpp>

#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe.
class pending_sweeps {
 public:
  // True: no sweep of that name is pending, so the caller must submit one.
  bool add(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    return names_.insert(name).second;
  }
  // Call it before the sweep reads the queue, so that a later release adds the name again.
  void take(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    names_.erase(name);
  }

 private:
  model::annotated_mutex mutex_;
  std::unordered_set<std::string> names_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
