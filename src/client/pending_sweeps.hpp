// Unfair locks that this process has freed without a look at their queue: those who wait are looked for a
// moment later, once for all releases in between.
#pragma once

#include <mutex>
#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe.
class pending_sweeps {
 public:
  // True: nobody is on the way to answer it.
  bool add(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return names_.insert(name).second;
  }
  // Before the look: what is freed behind it rings again.
  void take(const std::string& name) {
    const std::lock_guard lock{mutex_};
    names_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> names_;
};

}  // namespace rowlock::client_layer
