#include "support/virtual_time.hpp"

#include <algorithm>

namespace rowlock::test {

namespace {

constexpr std::chrono::milliseconds glance{2};

}  // namespace

client_layer::instant virtual_time::now() const noexcept {
  return client_layer::instant{std::chrono::nanoseconds{now_.load()}};
}

void virtual_time::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                              client_layer::instant then) {
  if (now() < then) changed.wait_for(lock, glance);
}

std::chrono::nanoseconds virtual_time::patience(std::chrono::nanoseconds wish) const noexcept {
  return std::min<std::chrono::nanoseconds>(wish, glance);
}

}  // namespace rowlock::test
