// Executors for the tests of async.hpp, and a coroutine.
#pragma once

#include "client/client_test.hpp"

#include <rowlock/async.hpp>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

namespace rowlock::test {

// Keeps its tasks until the test runs them in the test's thread. A client's thread may add a task when the test is
// over: that task is dropped.
class hand_executor {
 public:
  hand_executor() = default;
  hand_executor(const hand_executor&) = delete;
  hand_executor& operator=(const hand_executor&) = delete;
  ~hand_executor() {
    std::deque<rowlock::task> left;
    const std::lock_guard lock{all_->mutex};
    all_->over = true;
    left.swap(all_->given);
  }

  executor get() {
    return [all = all_](rowlock::task next) {
      const std::lock_guard lock{all->mutex};
      if (!all->over) all->given.push_back(std::move(next));
    };
  }

  std::size_t size() const {
    const std::lock_guard lock{all_->mutex};
    return all_->given.size();
  }
  // Waits for a task and runs it. False: none came within a minute.
  bool run_one() {
    if (!eventually([&] { return size() > 0; })) return false;
    run_next();
    return true;
  }
  void run_next() { take()(); }
  void drop_next() { std::ignore = take(); }

 private:
  struct tasks {
    std::mutex mutex;
    std::deque<rowlock::task> given;
    bool over = false;
  };

  rowlock::task take() {
    const std::lock_guard lock{all_->mutex};
    auto next = std::move(all_->given.front());
    all_->given.pop_front();
    return next;
  }

  const std::shared_ptr<tasks> all_ = std::make_shared<tasks>();
};

// One thread that runs its tasks in order.
class loop {
 public:
  executor get() {
    return [this](rowlock::task next) {
      const std::lock_guard lock{mutex_};
      given_.push_back(std::move(next));
      changed_.notify_one();
    };
  }
  std::thread::id id() const { return thread_.get_id(); }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [&] { return !given_.empty(); })) {
      auto next = std::move(given_.front());
      given_.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<rowlock::task> given_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

// A coroutine that starts at once, in the calling thread. The destructor destroys the coroutine.
class job {
 public:
  struct promise_type {
    job get_return_object() { return job{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
    std::exception_ptr failure{};
  };

  explicit job(std::coroutine_handle<promise_type> started) : handle_(started) {}
  job(job&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  job& operator=(job&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~job() {
    if (handle_) handle_.destroy();
  }

  // Call it, like rethrow(), only in the thread that resumes the coroutine.
  bool is_over() const { return handle_.done(); }
  // Throws what the coroutine threw.
  void rethrow() const {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace rowlock::test
