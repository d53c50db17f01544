// Several locks without a thread: a coroutine that is suspended until it has all of them, or a callback.
//
//   const std::vector<rowlock::wanted> locks{from, to, shared(rates)};
//   rowlock::hold_set all = co_await acquire_all_on(pool, locks);            // resumed on the pool
//   if (auto all = co_await try_acquire_all_on(pool, locks, 5s)) { … }       // busy is a value
//
//   acquire_all_async(pool, {from, to}, [](rowlock::acquired_all got) { if (got) use(got.holds); });
//
// All or none, as in acquire_all.hpp: what is free is taken in one transaction, and what is busy is waited for in the
// order of the names. Nothing blocks a thread meanwhile. One time limit covers all of it.
//
// What async.hpp says of executors and coroutines is true here, too, and so is its table: however the wait
// ends, only the holds that were delivered remain. What else it had taken is released in the background.
// Destroying the holds waits for their release.
//
// Give the list a name before the co_await: GCC 12 does not compile a braced list inside the expression.
#pragma once

#include <rowlock/acquire_all.hpp>
#include <rowlock/async.hpp>

#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// The result of an asynchronous acquire of several locks. Movable.
struct acquired_all {
  // Empty: the time passed, one of them was busy, a limited wait was stopped, or it failed.
  hold_set holds{};
  // What the blocking call would have thrown.
  std::optional<rowlock::error> failure{};

  explicit operator bool() const noexcept { return holds.valid(); }
};

// As acquire_all: waits for ever if necessary. The executor calls done once; exceptions of done pass through the
// executor. Throws what acquire_async throws, and error(invalid_argument) for an empty list, a name that occurs
// twice, or locks of more than one client. Then done is never called. All other errors come as
// acquired_all::failure.
ROWLOCK_EXPORT void acquire_all_async(executor where, const std::vector<wanted>& locks,
                                      std::function<void(acquired_all)> done,
                                      const acquire_options& how = {});

// As try_acquire_all_for. Zero or less is try_acquire_all, which does not wait for a holder, but still for the
// database.
ROWLOCK_EXPORT void try_acquire_all_async(executor where, const std::vector<wanted>& locks,
                                          time_limit timeout, std::function<void(acquired_all)> done,
                                          const acquire_options& how = {});

class ROWLOCK_OWNER awaited_acquire_all : public awaited_request {
 public:
  hold_set await_resume();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit awaited_acquire_all(maker make) noexcept : awaited_request(std::move(make)) {}
};

// Gives the holds, in the order of `locks`. Throws what acquire_all throws. error(invalid_argument) comes
// from this call or from co_await; the other errors that acquire_all_async throws come from co_await before
// the coroutine is suspended, all others when it is resumed.
ROWLOCK_EXPORT awaited_acquire_all acquire_all_on(executor where, const std::vector<wanted>& locks,
                                                  acquire_options how = {});

// Gives holds that may be empty, as try_acquire_all_for, and try_acquire_all for zero or less.
ROWLOCK_EXPORT awaited_acquire_all try_acquire_all_on(executor where, const std::vector<wanted>& locks,
                                                      time_limit timeout, acquire_options how = {});

ROWLOCK_END_NAMESPACE
