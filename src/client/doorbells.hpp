// Unfair locks that this process has freed without a look at their queue: those who wait are looked for a
// moment later, once for all releases in between.
#pragma once

#include <mutex>
#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe.
class doorbells {
 public:
  // True: nobody is on the way to answer it.
  bool ring(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return rung_.insert(name).second;
  }
  // Before the look: what is freed behind it rings again.
  void answer(const std::string& name) {
    const std::lock_guard lock{mutex_};
    rung_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> rung_;
};

}  // namespace rowlock::client_layer
