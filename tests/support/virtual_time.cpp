#include "support/virtual_time.hpp"

#include "support/threads.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::test {

namespace {

constexpr std::chrono::milliseconds glance{2};
constexpr int glances_at_most = 50;
// How much longer a waiter may sleep that was about to sleep when the clock moved.
constexpr std::chrono::milliseconds tick_length{5};
// This is long, because on a busy machine the clock would otherwise move while a thread waits for a processor.
constexpr std::chrono::milliseconds rest_at_most{500};
constexpr std::chrono::microseconds between_looks{200};

}  // namespace

virtual_time::~virtual_time() {
  over_.store(true);
  ticker_.join();
}

void virtual_time::tick() {
  ::pthread_setname_np(::pthread_self(), "virtual-time");
  while (!over_.load()) {
    std::this_thread::sleep_for(tick_length);
    wake_those_due();
  }
}

void virtual_time::wake_those_due() {
  const std::lock_guard guard{mutex_};
  for (const auto& one : waiting_) {
    if (one.then <= now()) one.wake();
  }
}

client_layer::instant virtual_time::now() const noexcept {
  return client_layer::instant{std::chrono::nanoseconds{now_.load()}};
}

void virtual_time::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                              client_layer::instant then) {
  const auto sleep = [&](bool glances) {
    glances ? (void)changed.wait_for(lock, glance) : changed.wait(lock);
  };
  wait_until(
      then, [&] { changed.notify_all(); }, sleep);
}

void virtual_time::wait_until(client_layer::wait_word& changed, std::uint32_t seen,
                              client_layer::instant then) {
  const auto sleep = [&](bool glances) { glances ? changed.wait(seen, glance) : changed.wait(seen); };
  wait_until(
      then, [&] { changed.wake_all(); }, sleep);
}

template <class Sleep>
void virtual_time::wait_until(client_layer::instant then, std::function<void()> wake, Sleep sleep) {
  if (now() >= then) return;
  const bool owns = std::this_thread::get_id() == owner_;
  if (owns) go_on_if_stuck(then);
  const auto mine = [&] {
    const std::lock_guard guard{mutex_};
    return waiting_.insert(waiting_.end(), {.wake = std::move(wake), .then = then});
  }();
  if (now() < then) sleep(owns);
  const std::lock_guard guard{mutex_};
  waiting_.erase(mine);
}

void virtual_time::go_on_if_stuck(client_layer::instant then) {
  glances_ = then == waits_until_ ? glances_ + 1 : 0;
  waits_until_ = then;
  if (glances_ > glances_at_most)
    advance(std::max<std::chrono::nanoseconds>(next_deadline(then) - now(), glance));
}

client_layer::instant virtual_time::next_deadline(client_layer::instant latest) {
  const std::lock_guard guard{mutex_};
  for (const auto& one : waiting_) {
    if (one.then > now()) latest = std::min(latest, one.then);
  }
  return latest;
}

std::chrono::nanoseconds virtual_time::patience(std::chrono::nanoseconds wish) const noexcept {
  return std::min<std::chrono::nanoseconds>(wish, glance);
}

void virtual_time::advance(std::chrono::nanoseconds by) {
  let_others_sleep();
  now_.fetch_add(by.count());
  wake_those_due();
}

std::chrono::milliseconds virtual_time::next_step(int steps) noexcept {
  return std::chrono::milliseconds{steps < 200 ? 5 : 20};
}

void virtual_time::let_others_sleep() {
  const auto until = std::chrono::steady_clock::now() + rest_at_most;
  while (!std::ranges::all_of(other_threads(), &thread_state::sleeps) &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace rowlock::test
