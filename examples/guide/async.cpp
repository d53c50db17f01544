#include <rowlock/rowlock.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>

using namespace std::chrono_literals;

// A coroutine that begins at once and that nobody waits for; your framework has a better one.
struct errand {
  struct promise_type {
    errand get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// Rebuilds an index when its lock is granted. No thread waits for that, so thousands of calls may wait.
errand rebuild(rowlock::executor pool, rowlock::wanted index, std::function<void(const rowlock::hold&)> work,
               std::function<void(const rowlock::error&)> failed) {
  try {
    const rowlock::hold hold = co_await rowlock::acquire_on(pool, index);
    work(hold);  // on a thread of the pool, which then releases the lock
  } catch (const rowlock::error& refusal) {
    failed(refusal);
  }
}

// The same with a callback, and only if the lock is free.
void rebuild_if_free(const rowlock::executor& pool, const rowlock::wanted& index,
                     const std::function<void(const rowlock::hold&)>& work) {
  rowlock::try_acquire_async(pool, index, 0s, [work](const rowlock::acquired& got) {
    if (got) work(got.hold);  // otherwise it is busy, or got.failure says why
  });
}
