// Waiting for a lock without a thread that waits: a coroutine that is suspended meanwhile, or a function that
// is called when it is over. For every lock of one client that can be `wanted`: a mutex, a shared_mutex,
// shared(…), permits(…), an election.
//
//   rowlock::executor pool = [&](std::function<void()> next) { threads.post(std::move(next)); };
//
//   rowlock::hold hold = co_await acquire_on(pool, nightly);                    // resumed on the pool
//   if (auto hold = co_await try_acquire_on(pool, shared(catalog), 5s)) { … }   // busy is a value
//   rowlock::term term{co_await acquire_on(pool, scheduler)};                   // an election
//
//   acquire_async(pool, nightly, [](rowlock::acquired got) { if (got) use(*got.hold); });
//
// It is the wait of the blocking calls, in the same queue and order. None of these calls waits for the
// database or for anybody; thousands may wait at once, and cost a place in the queue each.
//
// However a wait ends, nothing of it remains but a hold that was handed over:
//
//                              | the wait                           | what it holds or is granted later
//   the time is up             | ends; empty                        | given back
//   a stop is requested        | ends; cancelled, or empty if timed | given back
//   the client is closed       | ends; closed                       | given back
//   the coroutine is destroyed | ends; nobody is told               | given back, by rowlock
//   the executor never runs it | is over                            | given back when it drops the function
//
// A hold that was granted lives while it waits in the executor for its turn: as ever, ask it whether it still
// stands. It is released by whoever destroys it, on that thread, which then waits for the database as
// hold::release() does. A wait with a function does not keep its client open: with the client's last handle
// it is closed. A suspended coroutine keeps a handle.
#pragma once

#include <rowlock/acquire_all.hpp>
#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/options.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>

namespace rowlock::client_layer {
class async_acquire;
}

ROWLOCK_BEGIN_NAMESPACE

// Given a function, runs it once, soon, on a thread of the caller's choice. Each wait keeps a copy of the
// executor, so let it point to a pool or an event loop and not be one; what it points to must outlive the
// waits and the client.
//
// It is called under no lock, on a thread that each client has for nothing else (from the first use of this
// header), one call after the other. So it should be quick: while it is busy nobody else of this client is
// told. It may run the function at once, if that is quick too; but client::close() would then wait there for
// itself, options::close_timeout long. It must not throw: that is logged as an error, and the wait ends as
// if it had dropped the function.
using executor = std::function<void(std::function<void()>)>;

// What became of an acquire. Movable.
struct acquired {
  // Empty: the time was up, a limited wait was stopped, or it failed.
  std::optional<rowlock::hold> hold{};
  // What the blocking call would have thrown.
  std::optional<rowlock::error> failure{};

  explicit operator bool() const noexcept { return hold.has_value(); }
};

// ---- with a function

// As mutex::acquire: waits for ever if need be. done is called once, by the executor; what it throws goes
// through the executor.
// Throws at once, and then done is never called: error(invalid_argument), also for detect_deadlock, which
// knows circles of threads alone; closed; forked. Everything else comes as acquired::failure.
ROWLOCK_EXPORT void acquire_async(executor where, const wanted& lock, std::function<void(acquired)> done,
                                  const acquire_options& how = {});

// As mutex::try_acquire_for: waits at most that long. Zero or less is try_acquire, which does not wait for a
// holder, but still for the database.
ROWLOCK_EXPORT void try_acquire_async(executor where, const wanted& lock, time_limit timeout,
                                      std::function<void(acquired)> done, const acquire_options& how = {});

// ---- with co_await, in a coroutine of any type
//
// Name options that have a stop token before the co_await: GCC 12.2 destroys an {.stop = token} twice that is
// written inside the expression, as it does with every aggregate there.

// What the functions below return: to be awaited at once, and once. It asks for the lock when it is awaited.
// Destroy a suspended coroutine only where the executor cannot be about to resume it, such as on the
// executor's one thread.
class ROWLOCK_EXPORT awaited_acquire {
 public:
  // For rowlock's own functions. timeout: empty to wait for ever.
  awaited_acquire(executor where, wanted lock, std::optional<std::chrono::nanoseconds> timeout,
                  acquire_options how);
  awaited_acquire(awaited_acquire&& other) noexcept;
  awaited_acquire& operator=(awaited_acquire&& other) = delete;
  ~awaited_acquire();

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    begin([waiting] { waiting.resume(); });
  }

 protected:
  std::optional<hold> take();

 private:
  void begin(std::function<void()> resume);

  executor where_;
  wanted lock_;
  std::optional<std::chrono::nanoseconds> timeout_;
  acquire_options how_;
  std::shared_ptr<client_layer::async_acquire> wait_;
};

class ROWLOCK_EXPORT awaited_hold : public awaited_acquire {
 public:
  using awaited_acquire::awaited_acquire;
  hold await_resume();
};

class ROWLOCK_EXPORT awaited_attempt : public awaited_acquire {
 public:
  using awaited_acquire::awaited_acquire;
  std::optional<hold> await_resume();
};

// Gives a hold. Throws what mutex::acquire throws: invalid_argument, closed and forked on the thread that
// awaits, without suspending it, everything else when it is resumed.
ROWLOCK_EXPORT awaited_hold acquire_on(executor where, wanted lock, acquire_options how = {});

// Gives a std::optional<hold>; as mutex::try_acquire_for, and mutex::try_acquire for zero or less.
ROWLOCK_EXPORT awaited_attempt try_acquire_on(executor where, wanted lock, time_limit timeout,
                                              acquire_options how = {});

ROWLOCK_END_NAMESPACE
