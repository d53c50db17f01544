#include "support/virtual_time.hpp"

#include <algorithm>

namespace rowlock::test {

namespace {

constexpr std::chrono::milliseconds glance{2};
constexpr int glances_at_most = 250;

}  // namespace

client_layer::instant virtual_time::now() const noexcept {
  return client_layer::instant{std::chrono::nanoseconds{now_.load()}};
}

void virtual_time::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                              client_layer::instant then) {
  if (now() >= then) return;
  if (std::this_thread::get_id() == owner_) go_on_if_stuck(then);
  changed.wait_for(lock, glance);
}

void virtual_time::go_on_if_stuck(client_layer::instant then) {
  glances_ = then == waits_until_ ? glances_ + 1 : 0;
  waits_until_ = then;
  if (glances_ > glances_at_most) advance(glance);
}

std::chrono::nanoseconds virtual_time::patience(std::chrono::nanoseconds wish) const noexcept {
  return std::min<std::chrono::nanoseconds>(wish, glance);
}

}  // namespace rowlock::test
