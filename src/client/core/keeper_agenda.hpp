// What the other threads of a client ask of its lease keeper: a look at the waiters, a renewal, or only that it wakes
// up. The keeper reads it between two statements, and may sleep in between.
#pragma once

#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"
#include "model/ids.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rowlock::client_layer {

class keeper_agenda {
 public:
  // ---- before other threads know this object ----

  // Ends a sleep of the keeper.
  void on_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // ---- any thread ----

  void wake() noexcept {
    if (wake_) wake_();
  }
  // All waiters are looked at no later than that.
  void look_at(instant when) noexcept;
  // These waiters are looked at soon. The cost does not depend on how many others wait.
  void look_up(std::span<const model::hold_id> waiters) noexcept;
  // A renewal is due now.
  void renew_soon() noexcept;
  // The client has one hold more.
  void note_hold() noexcept {
    if (sleeps_past_holds_.load()) wake();
  }

  // How many wake-ups have come, plus the grants to waiters that were not registered yet. Whoever reads this
  // before a request is sent sees, once the request is registered as a waiter, whether one of them may have
  // been for that waiter.
  std::uint64_t wakeups() const noexcept { return wakeups_.load(); }
  void count_wakeup() noexcept { wakeups_.fetch_add(1); }

  // ---- the keeper's thread ----

  // As look_at(), for the keeper itself. True: the next look was planned for later, or not at all.
  bool plan_look(instant when) noexcept;
  instant next_look() const noexcept { return instant{std::chrono::nanoseconds{look_at_.load()}}; }
  // A look begins. A waiter that is registered after this call plans another one.
  void begin_look() noexcept { look_at_.store(never); }

  // As look_up(), for the keeper itself.
  void plan_look_up(std::span<const model::hold_id> waiters) noexcept;
  bool has_named() const;
  // The first waiters that look_up() has named, as many as that. They stay until they are dropped.
  std::vector<model::hold_id> named(std::size_t most) const;
  void drop_named(std::size_t count) noexcept;

  // As renew_soon(), for the keeper itself.
  void plan_renewal() noexcept { wants_renewal_.store(true); }
  bool wants_renewal() const noexcept { return wants_renewal_.load(); }
  bool take_renewal() noexcept { return wants_renewal_.exchange(false); }

  // Whether the keeper is about to sleep in such a way that only wake() tells it of a new waiter, or of a new hold. Set
  // both before it looks whether it has waiters and holds, so that whoever comes after that look wakes it.
  void set_sleep(bool past_waiters, bool past_holds) noexcept {
    sleeps_past_waiters_.store(past_waiters);
    sleeps_past_holds_.store(past_holds);
  }
  // Whether a waiter that comes now must wake the keeper because it does not poll the database. Likewise set before the
  // keeper looks whether somebody waits.
  void set_silent(bool silent) noexcept { silent_.store(silent); }

 private:
  static constexpr std::int64_t never = instant::max().time_since_epoch().count();

  std::function<void()> wake_;
  std::atomic<std::int64_t> look_at_{never};  // nanoseconds of an instant
  std::atomic<std::uint64_t> wakeups_{0};
  std::atomic<bool> wants_renewal_{false};
  std::atomic<bool> sleeps_past_waiters_{false};
  std::atomic<bool> sleeps_past_holds_{false};
  std::atomic<bool> silent_{false};
  mutable model::annotated_mutex mutex_;
  std::vector<model::hold_id> named_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
