#include "client/keeper/watchdog.hpp"

#include <algorithm>
#include <optional>

namespace rowlock::client_layer {

namespace {

// The longest sleep. While the machine is suspended, time passes that no condition variable counts.
constexpr std::chrono::milliseconds round_length{250};

}  // namespace

// Each step is run by itself: one that fails for lack of memory does not stop the others, and is repeated
// soon.
instant watchdog::check(instant now) noexcept {
  auto next = now + round_length;
  bool failed = false;
  const auto attempt = [&](auto step) noexcept {
    try {
      if (const std::optional<instant> due = step()) next = std::min(next, *due);
    } catch (...) {
      failed = true;
    }
  };
  attempt([&] { return keeper_.expire(now); });
  attempt([&]() -> std::optional<instant> {
    loss_notifier_.lose(holds_.overdue(now), loss::expired);
    return holds_.next_deadline();
  });
  attempt([&] { return async_.end_overdue(now); });
  for (auto* slot : slots_) slot->interrupt_overdue(now);
  attempt([&]() -> std::optional<instant> {
    if (on_round) on_round();
    return {};
  });
  if (failed) return std::min(next, now + without_memory_.next());
  without_memory_.reset();
  return next;
}

void watchdog::run() noexcept {
  model::annotated_lock lock{mutex_};
  while (!stopped_) {
    check_again_ = false;
    lock.unlock();
    const auto next = check(environment_.time.now());
    lock.lock();
    if (!stopped_ && !check_again_) environment_.time.wait_until(lock, changed_, next);
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
