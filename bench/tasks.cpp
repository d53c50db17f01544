// Many coroutines that acquire and release, each with a name of its own, and no threads but the client's.
#include "bench/contest.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <mutex>
#include <thread>
#include <utility>

namespace rowlock::bench {

namespace {

// A coroutine that begins at once. Its end is counted, and nobody else waits for it.
struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

class pairs_of_tasks {
 public:
  explicit pairs_of_tasks(const own_locks& locks) : locks_{locks} {}

  repeated run(int count, std::chrono::nanoseconds slice) {
    const auto begun = monotonic_ns();
    running_ = count;  // nothing runs yet
    for (int i = 0; i < count; ++i) repeat(i);
    std::this_thread::sleep_until(std::chrono::steady_clock::now() +
                                  (slice - std::chrono::nanoseconds{monotonic_ns() - begun}));
    const auto within = pairs_.load();
    const auto took = static_cast<double>(monotonic_ns() - begun);
    stop_ = true;
    std::unique_lock lock{mutex_};
    ended_.wait(lock, [&] { return running_ == 0; });
    failure_.rethrow();
    return {.per_second = static_cast<double>(within) * 1e9 / took, .calls = pairs_};
  }

 private:
  detached repeat(int i) {
    // A pair takes little time on the executor, so the client's own thread runs it at once.
    const rowlock::executor here = [](rowlock::task next) { next(); };
    const rowlock::wanted lock = locks_.of(i);
    try {
      while (!stop_ && !failure_.failed()) {
        rowlock::hold hold = co_await rowlock::acquire_on(here, lock);
        const auto result = co_await rowlock::release_on(here, std::move(hold));
        require_released(result);
        pairs_.fetch_add(1, std::memory_order_relaxed);
      }
    } catch (...) {
      failure_.capture();
    }
    // Once the mutex is unlocked, the object may be destroyed.
    std::scoped_lock lock_of_count{mutex_};
    if (--running_ == 0) ended_.notify_all();
  }

  const own_locks& locks_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
  std::atomic<std::uint64_t> pairs_ = 0;
  first_failure failure_;
};

}  // namespace

std::vector<result> tasks(const plan& plan) {
  const auto counts = plan.threads ? std::vector{*plan.threads} : std::vector{1000, 10'000};
  const auto database = open_floor(plan);
  const auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks locks{client, "tasks", std::ranges::max(counts)};
  return compete(plan, *database,
                 {.scenario = "tasks",
                  .threads = counts,
                  .connections = usual_connections,
                  .client = client,
                  .run = [&](int count, std::chrono::nanoseconds slice) {
                    return pairs_of_tasks{locks}.run(count, slice);
                  }});
}

}  // namespace rowlock::bench
