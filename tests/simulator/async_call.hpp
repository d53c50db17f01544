// A call for which no thread waits, as a program makes it: with a callback or in a coroutine, and with an executor that
// runs its functions, or loses them.
#pragma once

#include <rowlock/async_all.hpp>
#include <rowlock/async_barrier.hpp>
#include <rowlock/error.hpp>

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rowlock::simulator {

// What an executor does with a function.
enum class executor_kind : std::uint8_t {
  in_caller,  // keeps it for the thread that began the call, which may never run it
  at_once,    // runs it
  drops,      // destroys it
  throws,
};

// An executor for the thread of a user: the thread runs the functions while it waits.
class task_box {
 public:
  explicit task_box(executor_kind kind = executor_kind::in_caller) : kind_(kind) {}
  task_box(const task_box&) = delete;
  task_box& operator=(const task_box&) = delete;
  // Destroys the functions that were not run; functions that come later are destroyed, too.
  ~task_box() {
    std::vector<rowlock::task> left;
    const std::lock_guard lock{all_->mutex};
    all_->over = true;
    left.swap(all_->given);
  }

  executor get() const {
    return [all = all_, kind = kind_](rowlock::task next) {
      switch (kind) {
        case executor_kind::at_once: return next();
        case executor_kind::drops: return;
        case executor_kind::throws: throw std::runtime_error("the program runs nothing");
        case executor_kind::in_caller: break;
      }
      const std::lock_guard lock{all->mutex};
      if (all->over) return;
      all->given.push_back(std::move(next));
      all->changed.notify_all();
    };
  }

  // Runs functions until `condition` is true, which a waker may cause, or until that time has passed. Returns the
  // condition.
  template <class Condition>
  bool run(std::optional<std::chrono::nanoseconds> at_most, Condition condition) {
    for (;;) {
      std::vector<rowlock::task> work;
      {
        std::unique_lock lock{all_->mutex};
        const auto ready = [&] { return condition() || !all_->given.empty(); };
        if (!at_most) {
          all_->changed.wait(lock, ready);
        } else if (!all_->changed.wait_for(lock, *at_most, ready)) {
          return false;
        }
        if (condition()) return true;
        work.swap(all_->given);
      }
      for (auto& next : work) next();
    }
  }

  // Returns a function that makes a change which a condition reads, and wakes the thread. It may outlive the box.
  auto waker() const {
    return [all = all_](const std::function<void()>& change) {
      const std::lock_guard lock{all->mutex};
      change();
      all->changed.notify_all();
    };
  }

 private:
  struct tasks {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<rowlock::task> given;
    bool over = false;
  };

  const std::shared_ptr<tasks> all_ = std::make_shared<tasks>();
  executor_kind kind_;
};

// Starts at once. The destructor destroys the coroutine.
class coroutine {
 public:
  struct promise_type {
    coroutine get_return_object() {
      return coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  coroutine() = default;
  explicit coroutine(std::coroutine_handle<promise_type> started) : handle_(started) {}
  coroutine(coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  coroutine& operator=(coroutine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~coroutine() {
    if (handle_) handle_.destroy();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// The kinds of requests, each with its result. `limit` is empty for a call that waits for ever.
struct one_lock {
  using result = acquired;
  wanted lock;
  std::optional<time_limit> limit;
  acquire_options how{};
};
struct several_locks {
  using result = acquired_all;
  std::vector<wanted> locks;
  std::optional<time_limit> limit;
  acquire_options how{};
};
struct an_arrival {
  using result = arrived;
  const barrier* at;
  std::optional<time_limit> limit;
  struct {
    std::stop_token stop;
  } how{};
};
struct a_latch {
  using result = waited;
  const latch* on;
  std::optional<time_limit> limit;
  struct {
    std::stop_token stop;
  } how{};
};
// A release, which waits for nothing but the database.
struct a_release {
  struct result {
    release_result how = release_result::unknown;
    std::optional<error> failure{};
  };
  std::shared_ptr<hold> held;
};

void begin_with_callback(const one_lock& asked, const executor& where, std::function<void(acquired)> done);
void begin_with_callback(const several_locks& asked, const executor& where,
                         std::function<void(acquired_all)> done);
void begin_with_callback(const an_arrival& asked, const executor& where, std::function<void(arrived)> done);
void begin_with_callback(const a_latch& asked, const executor& where, std::function<void(waited)> done);
void begin_with_callback(const a_release& asked, const executor& where,
                         std::function<void(a_release::result)> done);
coroutine begin_in_coroutine(one_lock asked, executor where, std::function<void(acquired)> done);
coroutine begin_in_coroutine(several_locks asked, executor where, std::function<void(acquired_all)> done);
coroutine begin_in_coroutine(an_arrival asked, executor where, std::function<void(arrived)> done);
coroutine begin_in_coroutine(a_latch asked, executor where, std::function<void(waited)> done);
coroutine begin_in_coroutine(a_release asked, executor where, std::function<void(a_release::result)> done);

// One call. Only the thread that makes it may use it.
template <class Request>
class async_call {
 public:
  using result = typename Request::result;

  explicit async_call(executor_kind kind) : tasks_(kind) {}

  // Begins the call. Throws what the library throws at once.
  void begin(const Request& asked, bool in_coroutine) {
    const auto done = [got = got_, woken = tasks_.waker()](result made) {
      woken([&] { got->emplace(std::move(made)); });
    };
    if (in_coroutine) {
      running_ = begin_in_coroutine(asked, tasks_.get(), done);
    } else {
      begin_with_callback(asked, tasks_.get(), done);
    }
  }

  // Runs the executor's functions in this thread until there is a result, or that time has passed.
  bool run(std::optional<std::chrono::nanoseconds> at_most = {}) {
    return tasks_.run(at_most, [this] { return got_->has_value(); });
  }
  bool is_over() const { return got_->has_value(); }

  // Returns the result, or throws its failure. Requires: run() was true.
  result take() {
    if ((*got_)->failure) throw error(*(*got_)->failure);
    return std::move(**got_);
  }

 private:
  const std::shared_ptr<std::optional<result>> got_ = std::make_shared<std::optional<result>>();
  task_box tasks_;
  coroutine running_;  // destroyed before the executor's functions
};

}  // namespace rowlock::simulator
