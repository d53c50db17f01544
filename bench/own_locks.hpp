// Locks of which each caller has one of its own.
#pragma once

#include <rowlock/rowlock.hpp>

#include <memory>
#include <string>
#include <vector>

namespace rowlock::bench {

class own_locks {
 public:
  // Acquires each lock once, so that its row exists and the client's connections are warm.
  own_locks(const rowlock::client& client, const std::string& stem, int count);

  rowlock::mutex& of(int caller) const { return *mutexes_[static_cast<std::size_t>(caller)]; }
  void pair(int caller) const;

 private:
  std::vector<std::unique_ptr<rowlock::mutex>> mutexes_;
};

}  // namespace rowlock::bench
