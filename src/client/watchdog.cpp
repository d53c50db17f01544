#include "client/watchdog.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

// The longest sleep. During a suspend time passes that no condition variable counts.
constexpr std::chrono::milliseconds round_length{250};

}  // namespace

instant watchdog::check(instant now) {
  auto next = now + round_length;
  if (const auto deadline = keeper_.expire(now)) next = std::min(next, *deadline);
  loss_notifier_.lose(holds_.overdue(now), loss::expired);
  if (const auto deadline = holds_.next_deadline()) next = std::min(next, *deadline);
  if (const auto deadline = async_.end_overdue(now)) next = std::min(next, *deadline);
  for (auto* slot : slots_) slot->interrupt_overdue(now);
  return next;
}

void watchdog::run() {
  model::annotated_lock lock{mutex_};
  while (!stopped_) {
    check_again_ = false;
    lock.unlock();
    const auto next = check(context_.time.now());
    lock.lock();
    if (!stopped_ && !check_again_) context_.time.wait_until(lock, changed_, next);
  }
}

void watchdog::stop() {
  {
    const model::annotated_lock lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_one();
}

void watchdog::check_again() {
  {
    const model::annotated_lock lock{mutex_};
    check_again_ = true;
  }
  changed_.notify_one();
}

}  // namespace rowlock::client_layer
