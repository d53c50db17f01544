// Asynchronous acquire, with a suspended coroutine or a callback, for every lock that can be `wanted`: a mutex, a
// shared_mutex, shared(…), permits(…), an election. wait_on and wait_async wait for a latch in the same way.
//
//   rowlock::executor pool = [&](rowlock::task next) { threads.post(std::move(next)); };
//
//   rowlock::hold hold = co_await acquire_on(pool, nightly);                    // resumed on the pool
//   if (auto hold = co_await try_acquire_on(pool, shared(catalog), 5s)) { … }   // busy is a value
//   rowlock::term term{co_await acquire_on(pool, scheduler)};                   // an election
//   if (co_await wait_on(pool, loaded, 5s)) { … }                               // a latch
//
//   acquire_async(pool, nightly, [](rowlock::acquired got) { if (got) use(got.hold); });
//
// No call blocks for the database or for a holder. The waiters stand in the same queue as those of the blocking calls;
// thousands may wait at once. However a wait ends, nothing of it remains except a hold that was delivered:
//
//                                | the wait                              | what it is or will be granted
//   the time passes              | ends with an empty hold               | is released
//   stop is requested            | ends: cancelled, or empty if limited  | is released
//   the client is closed         | ends with error(closed)               | is released
//   the coroutine is destroyed   | ends without a notice                 | is released
//   the executor never runs it   | is over                               | is released when the executor
//                                |                                       | destroys the function
//
// A granted hold may be lost while it waits for the executor: check it. Destroying a hold waits for its release, as
// hold::release() does; release_async() and release_on() do not wait. A wait with a callback does not keep its client
// open: the end of the client's last handle closes the client. A suspended coroutine keeps a handle, and so does a hold
// that was delivered.
#pragma once

#include <rowlock/acquire_all.hpp>
#include <rowlock/error.hpp>
#include <rowlock/latch.hpp>
#include <rowlock/task.hpp>

#include <coroutine>

ROWLOCK_BEGIN_NAMESPACE

// The result of an asynchronous acquire. Movable.
struct acquired {
  // Empty: the time passed, a limited wait was stopped, or it failed.
  rowlock::hold hold{};
  // What the blocking call would have thrown.
  std::optional<rowlock::error> failure{};

  explicit operator bool() const noexcept { return hold.valid(); }
};

// ---- with a callback

// As mutex::acquire: waits for ever if necessary. The executor calls done once; exceptions of done pass through it.
// Throws error: invalid_argument, also for detect_deadlock, which only works for threads; closed; forked; read_only;
// unreachable if a thread cannot be started. Then done is never called. All other errors come as acquired::failure.
ROWLOCK_EXPORT void acquire_async(executor where, const wanted& lock, std::function<void(acquired)> done,
                                  const acquire_options& how = {});

// As mutex::try_acquire_for. Zero or less is try_acquire, which does not wait for a holder, but still for the database.
// For a point in time pass time_limit::until(time).
ROWLOCK_EXPORT void try_acquire_async(executor where, const wanted& lock, time_limit timeout,
                                      std::function<void(acquired)> done, const acquire_options& how = {});

// ---- with co_await, in a coroutine of any type. Give options with a stop token a name before the co_await: GCC 12.2
// destroys an {.stop = token} inside the expression twice, as it does with every aggregate there.

// What the functions that end in _on return: await it immediately, and only once. Awaiting it begins the request.
// Destroy a suspended coroutine only where the executor cannot be about to resume it, such as on the executor's only
// thread.
class ROWLOCK_OWNER awaited_request {
 public:
  awaited_request(awaited_request&& other) noexcept;
  awaited_request& operator=(awaited_request&& other) = delete;
  ~awaited_request();

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    begin([waiting] { waiting.resume(); });
  }

 protected:
  using request = std::shared_ptr<client_layer::async_request>;
  using maker = std::function<request(std::function<void()> resume)>;
  ROWLOCK_HIDDEN explicit awaited_request(maker make) noexcept;
  client_layer::async_request& settled() const noexcept { return *request_; }

 private:
  void begin(std::function<void()> resume);

  maker make_;
  request request_;
};

class ROWLOCK_OWNER awaited_acquire : public awaited_request {
 public:
  hold await_resume();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit awaited_acquire(maker make) noexcept : awaited_request(std::move(make)) {}
};

// Gives a hold. Throws what mutex::acquire throws. The errors that acquire_async throws are thrown by
// co_await before the coroutine is suspended, all others when it is resumed.
ROWLOCK_EXPORT awaited_acquire acquire_on(executor where, wanted lock, acquire_options how = {});

// Gives a hold that may be empty, as mutex::try_acquire_for, and mutex::try_acquire for zero or less.
ROWLOCK_EXPORT awaited_acquire try_acquire_on(executor where, wanted lock, time_limit timeout,
                                              acquire_options how = {});

// ---- a latch

// The result of an asynchronous wait for a latch.
struct waited {
  // False: the time passed, a limited wait was stopped, or it failed.
  bool open = false;
  // What the blocking call would have thrown.
  std::optional<rowlock::error> failure{};

  explicit operator bool() const noexcept { return open; }
};

// As latch::wait, and with a timeout as latch::wait_for; zero or less asks whether it is open now. The executor calls
// done once. Throws what acquire_async throws; all other errors come as waited::failure.
ROWLOCK_EXPORT void wait_async(executor where, const latch& on, std::function<void(waited)> done,
                               std::stop_token stop = {});
ROWLOCK_EXPORT void wait_async(executor where, const latch& on, time_limit timeout,
                               std::function<void(waited)> done, std::stop_token stop = {});

class ROWLOCK_OWNER awaited_wait : public awaited_request {
 public:
  bool await_resume();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit awaited_wait(maker make) noexcept : awaited_request(std::move(make)) {}
};

// Gives what latch::wait_for returns; true without a timeout. Throws what latch::wait throws, at the same
// moments as acquire_on.
ROWLOCK_EXPORT awaited_wait wait_on(executor where, const latch& on, std::stop_token stop = {});
ROWLOCK_EXPORT awaited_wait wait_on(executor where, const latch& on, time_limit timeout,
                                    std::stop_token stop = {});

// ---- release

// Begins to release the hold, as hold::release(), and returns at once; the hold is over. A program that makes many short
// holds goes on one round trip earlier, and its releases share statements. For others the lock becomes free when the
// statement has been executed, which client::close() waits for. This client sends later requests for the lock after the
// release, so they do not find the hold in their way, unless the release is late because of a failure or because
// somebody else has the lock's row locked. Calls for several locks, such as acquire_all(), may be sent before it. If the
// hold is the last handle of its client, the call closes the client, and waits as client::close() does. Throws
// error(forked).
ROWLOCK_EXPORT void release_async(hold held);

// As above, and the executor calls done once, with what hold::release() would have returned. The result is `unknown` if
// there is no answer after options::close_timeout, or at once if a thread cannot be started. Throws
// error(invalid_argument) for an empty executor or function; the hold is then released as by its destructor.
ROWLOCK_EXPORT void release_async(executor where, hold held, std::function<void(release_result)> done);

// What release_on() returns; awaiting it begins the release. The same rules as for awaited_request apply, but if the
// coroutine is destroyed meanwhile, the release goes on.
class ROWLOCK_OWNER awaited_release {
 public:
  awaited_release(awaited_release&& other) noexcept;
  awaited_release& operator=(awaited_release&& other) = delete;
  ~awaited_release();

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    begin([waiting] { waiting.resume(); });
  }
  release_result await_resume() const noexcept { return result_; }

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN awaited_release(executor where, hold held) noexcept;
  void begin(std::function<void()> resume);

  executor where_;
  hold held_;
  release_result result_ = release_result::lost;
  std::shared_ptr<client_layer::async_request> release_;
};

// Gives what hold::release() returns. Throws error, before the coroutine is suspended: invalid_argument for
// an empty executor; forked.
ROWLOCK_EXPORT awaited_release release_on(executor where, hold held);

ROWLOCK_END_NAMESPACE
