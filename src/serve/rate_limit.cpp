#include "serve/rate_limit.hpp"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace rowlock::serve {

std::string client_key(const std::string& address) {
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return address;
  return {reinterpret_cast<const char*>(six.s6_addr), 8};
}

// After a second a bucket is full again, and says no more than a new one.
void rate_limit::forget_idle_locked(clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& one) { return now - one.second.at > std::chrono::seconds{1}; });
  most_ = std::max<std::size_t>(1024, 2 * buckets_.size());
}

bool rate_limit::is_exceeded(const std::string& address, clock::time_point now) {
  if (per_second_ <= 0) return false;
  const model::annotated_lock lock{mutex_};
  if (buckets_.size() >= most_) forget_idle_locked(now);
  const auto [at, is_new] = buckets_.try_emplace(client_key(address), bucket{per_second_, now});
  auto& one = at->second;
  one.left =
      std::min(per_second_, one.left + per_second_ * std::chrono::duration<double>(now - one.at).count());
  one.at = now;
  if (one.left < 1) return true;
  one.left -= 1;
  return false;
}

}  // namespace rowlock::serve
