// A result that arrives once, for a caller that may stop waiting for it.
//
//   event          | open     | leaving  | complete | given_up
//   complete, fail | complete | complete | -        | -
//   leave          | leaving  | -        | -        | -
//   give_up        | given_up | given_up | -        | -
//   detach         | leaving  | leaving  | -        | -
#pragma once

#include "client/base/errors.hpp"
#include "client/base/time_source.hpp"
#include "client/base/wait_word.hpp"
#include "model/annotated_mutex.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

namespace rowlock::client_layer {

// All of a promise but the result itself. Thread-safe.
class promise_state {
 public:
  // If there is no memory for the failure, the caller is thrown std::bad_alloc.
  bool fail(const std::exception_ptr& failure) noexcept {
    auto copied = copied_failure(failure);
    return settle([&]() ROWLOCK_REQUIRES(mutex_) {
      failure_ = std::move(copied);
      has_failed_ = true;
    });
  }

  bool is_complete() const {
    const model::annotated_lock lock{mutex_};
    return is_over();
  }

  // For a caller whose thread does not wait: the thread that completes the promise calls next() once, under
  // no mutex. next() must not throw. It is dropped when the caller gives up. Set it before the operation is
  // shared.
  void on_complete(std::function<void()> next) {
    const model::annotated_lock lock{mutex_};
    next_ = std::move(next);
  }
  // Whether the caller gave up before there was a result.
  bool is_given_up() const {
    const model::annotated_lock lock{mutex_};
    return state_ == state::given_up;
  }
  // The caller still waits, but only to learn the outcome, which should now come soon.
  void leave() {
    const model::annotated_lock lock{mutex_};
    if (state_ == state::open) state_ = state::leaving;
  }
  bool is_leaving() const {
    const model::annotated_lock lock{mutex_};
    return state_ == state::leaving;
  }
  // The caller waits no longer. True: no result will come. False: there already was a result.
  bool give_up() { return drop_caller(state::given_up); }
  // As leave(), but nobody waits any more: the result will belong to nobody. False: there was a result before.
  bool detach() { return drop_caller(state::leaving); }
  // Why there is no result yet, for a caller that gives up. Null: no reason is known any more.
  // Without memory for the reason none is known either.
  void note_failure(const std::exception_ptr& reason) noexcept {
    auto copied = reason ? copied_failure(reason) : nullptr;
    const model::annotated_lock lock{mutex_};
    last_failure_.swap(copied);
  }
  std::optional<error> last_failure() const {
    const model::annotated_lock lock{mutex_};
    return last_failure_ ? std::optional{*last_failure_} : std::nullopt;
  }

 protected:
  enum class state : std::uint8_t { open, leaving, complete, given_up };

  promise_state() = default;
  ~promise_state() = default;

  bool is_over() const ROWLOCK_REQUIRES(mutex_) { return state_ >= state::complete; }
  // Requires: store_result() does not throw.
  template <class Store>
  bool settle(Store store_result) noexcept {
    std::function<void()> next;
    {
      const model::annotated_lock lock{mutex_};
      if (is_over()) return false;
      state_ = state::complete;
      store_result();
      next.swap(next_);
    }
    // With the mutex unlocked, because the woken thread would otherwise block on it at once. The caller of
    // complete() keeps this object alive.
    changed_.wake_one();
    try {
      if (next) next();
    } catch (...) {
      // The result is delivered, whatever becomes of what follows.
    }
    return true;
  }

  void throw_failure() const ROWLOCK_REQUIRES(mutex_) {
    if (!has_failed_) return;
    if (!failure_) throw std::bad_alloc{};
    throw copy_of(*failure_);
  }

  mutable model::annotated_mutex mutex_;
  wait_word changed_;
  state state_ ROWLOCK_GUARDED_BY(mutex_) = state::open;

 private:
  // Null: there is no memory for a copy, or the failure itself was a lack of memory.
  static std::shared_ptr<const error> copied_failure(const std::exception_ptr& failure) noexcept {
    try {
      return std::make_shared<const error>(copy_of(failure));
    } catch (...) {
      return nullptr;
    }
  }
  bool drop_caller(state next_state) {
    std::function<void()> dropped;  // destroyed with no mutex locked
    const model::annotated_lock lock{mutex_};
    dropped.swap(next_);
    if (is_over()) return false;
    state_ = next_state;
    return true;
  }

  bool has_failed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const error> failure_ ROWLOCK_GUARDED_BY(mutex_);
  std::shared_ptr<const error> last_failure_ ROWLOCK_GUARDED_BY(mutex_);
  std::function<void()> next_ ROWLOCK_GUARDED_BY(mutex_);
};

// Thread-safe.
template <class Result>
class promised : public promise_state {
 public:
  // Returns false if nobody waits for the result any more; whoever called complete() then owns it.
  bool complete(Result result) {
    return settle([&]() ROWLOCK_REQUIRES(mutex_) { result_ = std::move(result); });
  }
  // As complete(result), but calls on_receipt() if the caller gets the result, before the caller can see it. Requires:
  // on_receipt() does not throw, and does not use the promise, whose mutex is locked.
  template <class OnReceipt>
  bool complete(Result result, OnReceipt on_receipt) {
    return settle([&]() ROWLOCK_REQUIRES(mutex_) {
      result_ = std::move(result);
      on_receipt();
    });
  }
  // Returns or throws the result once, as wait() does.
  std::optional<Result> take() {
    const model::annotated_lock lock{mutex_};
    throw_failure();
    return std::exchange(result_, {});
  }

  // Waits until then, or until stop is requested. Empty: the caller has given up, and no result will come.
  std::optional<Result> wait(time_source& time, std::optional<instant> then,
                             const std::stop_token& stop = {}) {
    return wait(time, then, stop, true);
  }
  // The same for a caller that will wait again: a result may still come.
  std::optional<Result> wait_a_while(time_source& time, std::optional<instant> then,
                                     const std::stop_token& stop) {
    return wait(time, then, stop, false);
  }

 private:
  std::optional<Result> wait(time_source& time, std::optional<instant> then, const std::stop_token& stop,
                             bool gives_up) {
    std::stop_callback on_stop{stop, [this] { changed_.wake_one(); }};
    model::annotated_lock lock{mutex_};
    for (auto seen = changed_.seen(); !is_over() && !stop.stop_requested() && (!then || time.now() < *then);
         seen = changed_.seen()) {
      lock.unlock();
      if (then) {
        time.wait_until(changed_, seen, *then);
      } else {
        changed_.wait(seen);
      }
      lock.lock();
    }
    if (!is_over()) {
      if (gives_up) state_ = state::given_up;
      return {};
    }
    throw_failure();
    return std::move(result_);
  }

  std::optional<Result> result_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::client_layer
