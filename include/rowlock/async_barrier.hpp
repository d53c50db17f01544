// Asynchronous arrival at a barrier: a coroutine that is suspended until all have arrived, or a callback.
//
//   std::int64_t number = co_await arrive_on(pool, phase);            // resumed on the pool
//   if (auto number = co_await arrive_on(pool, phase, 5s)) { … }      // empty: not all came in time
//
//   arrive_async(pool, phase, [](rowlock::arrived at) { if (at) begin(*at.generation); });
//
// The arrival is the same as a blocking one, but no thread waits for it. What async.hpp says of executors and
// coroutines is true here, too. However the arrival ends, nothing of it remains:
//
//                                | fewer have arrived                   | all others have arrived meanwhile
//   the time passes, or          | the generation is broken; empty, or  | it ends with the generation's number
//   stop is requested            | error(cancelled) without a timeout   |
//   stop was requested before    | it does not arrive; empty, or        | the same
//                                | error(cancelled) without a timeout   |
//   the coroutine is destroyed   | the generation is broken             | the others continue
//   the client is closed         | error(closed); the generation is     | error(closed); the others continue
//                                | broken                               |
//   the executor drops the       | -                                    | the others continue
//   function, or throws          |                                      |
//
// The database decides which column applies, so a wait that is given up takes another round trip. If it does
// not answer for as long as a call may take, the wait ends with error(unreachable), as
// barrier::arrive_and_wait_for does.
#pragma once

#include <rowlock/async.hpp>
#include <rowlock/barrier.hpp>

ROWLOCK_BEGIN_NAMESPACE

// The result of an asynchronous arrival.
struct arrived {
  // The number of the complete generation. Empty: the time passed, a limited wait was stopped, or it failed.
  std::optional<std::int64_t> generation{};
  // What the blocking call would have thrown.
  std::optional<rowlock::error> failure{};

  explicit operator bool() const noexcept { return generation.has_value(); }
};

// As barrier::arrive_and_wait, and with a timeout as barrier::arrive_and_wait_for. The executor calls done
// once; exceptions of done pass through the executor. Throws error(invalid_argument) for an empty executor or
// function, closed; forked; read_only; unreachable if a thread cannot be started. Then done is never called,
// and nothing has arrived. All other errors come as arrived::failure.
ROWLOCK_EXPORT void arrive_async(executor where, const barrier& at, std::function<void(arrived)> done,
                                 std::stop_token stop = {});
ROWLOCK_EXPORT void arrive_async(executor where, const barrier& at, time_limit timeout,
                                 std::function<void(arrived)> done, std::stop_token stop = {});

class ROWLOCK_OWNER awaited_arrival : public awaited_request {
 public:
  std::int64_t await_resume();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit awaited_arrival(maker make) noexcept : awaited_request(std::move(make)) {}
};

class ROWLOCK_OWNER awaited_timed_arrival : public awaited_request {
 public:
  std::optional<std::int64_t> await_resume();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit awaited_timed_arrival(maker make) noexcept : awaited_request(std::move(make)) {}
};

// Gives the generation's number, with a timeout what barrier::arrive_and_wait_for returns. Throws what these
// throw. The errors that arrive_async throws come from co_await before the coroutine is suspended, all others
// when it is resumed.
ROWLOCK_EXPORT awaited_arrival arrive_on(executor where, const barrier& at, std::stop_token stop = {});
ROWLOCK_EXPORT awaited_timed_arrival arrive_on(executor where, const barrier& at, time_limit timeout,
                                               std::stop_token stop = {});

ROWLOCK_END_NAMESPACE
