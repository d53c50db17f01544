// A clock that stands still until a test moves it, or until its owner waits for something that only time can bring.
#pragma once

#include "client/base/time_source.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace rowlock::test {

// Thread-safe. The clock moves only while no other thread of the process has work, as far as some milliseconds of
// watching can tell: on a busy machine no deadline may pass because a thread waits for a processor. If the thread that
// made the clock has itself waited for long, no thread is left to move the clock, so the clock moves by itself.
class virtual_time final : public client_layer::time_source {
 public:
  virtual_time() = default;
  ~virtual_time();

  client_layer::instant now() const noexcept override;
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  client_layer::instant then) override;
  void wait_until(client_layer::wait_word& changed, std::uint32_t seen, client_layer::instant then) override;
  std::chrono::nanoseconds patience(std::chrono::nanoseconds wish) const noexcept override;

  void advance(std::chrono::nanoseconds by);
  // How far to move the clock next while waiting for something, so that waiting for seconds does not need thousands of
  // steps of a millisecond.
  static std::chrono::milliseconds next_step(int steps) noexcept;
  // Waits until the process's other threads wait for something; gives up after a moment.
  static void let_others_sleep();

 private:
  struct waiter {
    std::function<void()> wake;
    client_layer::instant then;
  };

  // Calls sleep(glances), and meanwhile wake() once the clock has reached that time. glances: it sleeps for a moment
  // only, because no other thread may be left to move the clock.
  template <class Sleep>
  void wait_until(client_layer::instant then, std::function<void()> wake, Sleep sleep);
  void wake_those_due();

  void go_on_if_stuck(client_layer::instant then);
  client_layer::instant next_deadline(client_layer::instant latest);
  void tick();

  const std::thread::id owner_ = std::this_thread::get_id();
  // Only the owner's thread uses this member.
  client_layer::instant waits_until_{};
  int glances_ = 0;
  // The clock does not begin at zero: a running machine has a positive CLOCK_BOOTTIME.
  std::atomic<std::int64_t> now_{std::chrono::nanoseconds{std::chrono::hours{1}}.count()};
  std::mutex mutex_;
  std::list<waiter> waiting_;
  // A thread waits for a notification as it does outside of tests, so that a test fails if the code forgets the
  // notification. When a wait's time ends, this thread notifies, and repeats that, because the waiter may not wait yet.
  std::atomic<bool> over_{false};
  std::thread ticker_{[this] { tick(); }};
};

}  // namespace rowlock::test
