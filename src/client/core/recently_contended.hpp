// The names for which this process recently had to queue. For these a fast acquire would only waste a round trip.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/config.hpp>

#include <atomic>
#include <string>
#include <unordered_set>

namespace rowlock::client_layer {

// Thread-safe. A hint: what it forgets or gets wrong costs one statement.
class recently_contended {
 public:
  void add(const std::string& name) noexcept {
    const model::annotated_lock lock{mutex_};
    if (names_.size() >= most) names_.clear();
    try {
      names_.insert(name);
      empty_.store(false, std::memory_order_relaxed);
    } catch (...) {
      // Without memory there is no hint.
    }
  }

  void remove(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    names_.erase(name);
    empty_.store(names_.empty(), std::memory_order_relaxed);
  }

  bool contains(const std::string& name) const {
    if (empty_.load(std::memory_order_relaxed)) return false;
    const model::annotated_lock lock{mutex_};
    return names_.contains(name);
  }

 private:
  static constexpr std::size_t most = 1000;

  mutable model::annotated_mutex mutex_;
  std::unordered_set<std::string> names_ ROWLOCK_GUARDED_BY(mutex_);
  std::atomic<bool> empty_ = true;
};

}  // namespace rowlock::client_layer
