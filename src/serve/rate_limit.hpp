// How many requests each client may send in a second.
#pragma once

#include "model/annotated_mutex.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace rowlock::serve {

// What tells clients apart: the address, of IPv6 its first 64 bits, because a client may have all addresses of that network.
std::string client_key(const std::string& address);

// A bucket of tokens for each client (client_key). Any thread may call it.
class rate_limit {
 public:
  using clock = std::chrono::steady_clock;

  // per_second: also how many requests a client that was idle may send at once. 0: no limit.
  explicit rate_limit(double per_second) : per_second_{per_second} {}

  // Whether a request that comes from that address now is one too many.
  bool is_exceeded(const std::string& address, clock::time_point now = clock::now());

 private:
  struct bucket {
    double left = 0;
    clock::time_point at;
  };

  void forget_idle_locked(clock::time_point now) ROWLOCK_REQUIRES(mutex_);

  const double per_second_;
  model::annotated_mutex mutex_;
  std::map<std::string, bucket> buckets_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t most_ ROWLOCK_GUARDED_BY(mutex_) = 1024;
};

}  // namespace rowlock::serve
