// A clock that stands still until a test moves it, or waits for what can only come with time.
#pragma once

#include "client/time_source.hpp"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace rowlock::test {

// Thread-safe. It moves only while no other thread of the process has anything to do, as far as that can be
// seen within some milliseconds: on a busy machine a deadline must not pass because a thread waits for a
// processor. When the thread that made it has waited for long itself, nobody is left to move it: then it
// moves by itself.
class virtual_time final : public client_layer::time_source {
 public:
  client_layer::instant now() const noexcept override;
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  client_layer::instant then) override;
  std::chrono::nanoseconds patience(std::chrono::nanoseconds wish) const noexcept override;

  void advance(std::chrono::nanoseconds by);
  // By how much to move it next where something is waited for: what takes a second or more is no matter of
  // milliseconds.
  static std::chrono::milliseconds next_step(int steps) noexcept;
  // Waits until the process's other threads wait for something, or a moment where they do not.
  static void let_others_sleep();

 private:
  struct waiter {
    std::condition_variable* changed;
    client_layer::instant then;
  };

  void go_on_if_stuck(client_layer::instant then);

  const std::thread::id owner_ = std::this_thread::get_id();
  // Used by the owner alone.
  client_layer::instant waits_until_{};
  int glances_ = 0;
  // Not zero: a machine that is up has a CLOCK_BOOTTIME.
  std::atomic<std::int64_t> now_{std::chrono::nanoseconds{std::chrono::hours{1}}.count()};
  std::mutex mutex_;
  std::list<waiter> waiting_;
};

}  // namespace rowlock::test
