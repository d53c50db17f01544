// A call that no thread waits for. When it is settled, the caller's executor runs the continuation.
#pragma once

#include "client/base/async_waiters.hpp"
#include "client/base/errors.hpp"
#include "client/call/call.hpp"
#include "model/annotated_mutex.hpp"

#include <rowlock/task.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace rowlock::client_layer {

// For an awaitable, which knows the kind of its call only when it takes the result.
class async_request : public async_wait {
 public:
  // Call it once. Throws what the blocking call throws before it sends anything; then no continuation follows.
  virtual void start() = 0;
  // Prevents the continuation from beginning, and drops the call. Does nothing if the continuation has begun.
  virtual void abandon() noexcept = 0;
};

// Thread-safe. Each call ends once: its continuation runs on the executor, or it is abandoned. Until it is settled,
// async_waiters owns this object; then the function that the executor has owns it. The client's threads do not, because
// they must not destroy what belongs to the caller.
//
//   event                          | it waits for its answer             | it is settled       | it has gone on
//   the answer, or a failure       | settled: the executor is called     | -                   | -
//   the time is up, or it is       | leave(): usually settled without an | -                   | -
//   stopped                        | answer                              |                     |
//   the client is closed           | settled: error(closed)              | -                   | -
//   the executor runs its function | -                                   | the continuation    | -
//   the executor drops or refuses  | -                                   | abandoned           | -
//   abandon()                      | abandoned: drop()                   | abandoned: drop()   | -
template <class Call>
class async_call final : public async_request, public std::enable_shared_from_this<async_call<Call>> {
 public:
  using continuation = std::function<void(async_call&)>;

  // what: the arguments of the call's constructor. Throws what that throws.
  template <class... Arguments>
  async_call(std::shared_ptr<engine> on, executor where, continuation then, Arguments&&... what)
      : engine_(std::move(on)),
        call_(*engine_, std::forward<Arguments>(what)...),
        where_(std::move(where)),
        then_(std::move(then)),
        ticket_(std::make_shared<ticket>()),
        passed_([pass = ticket_] { pass->of->go_on(); }) {}

  Call& asked() noexcept { return call_; }
  // Call it once, in the continuation: returns or throws what the blocking call does.
  typename Call::result take() {
    if (auto answer = call_.answer().take()) return call_.result_of(*std::move(answer));
    return call_.without_answer();
  }

  void start() override {
    const auto self = this->shared_from_this();  // the continuation may run before this function returns
    auto& waiters = engine_->start_async();
    const bool begins = !call_.stop().stop_requested();
    if (begins) engine_->start_keeper();
    call_.answer().on_complete([this, &waiters] { waiters.settled(*this); });
    started_ = true;
    try {
      if (!waiters.add(self, call_.until())) throw closed_during_wait();
    } catch (...) {
      started_ = false;
      call_.answer().on_complete({});
      throw;
    }
    if (!begins) {
      if (call_.answer().give_up()) waiters.settled(*this);
      return;
    }
    try {
      listen_to_stop();
      if (call_.until()) engine_->check_deadlines();
      call_.submit();
    } catch (...) {
      // From here on every outcome goes to the continuation.
      call_.answer().fail(std::current_exception());
    }
  }
  // As start(), for a call that must be sent in any case, such as a release. If start() fails, this thread
  // sends the call and calls the executor at once.
  void start_anyway() noexcept {
    try {
      start();
    } catch (...) {
      call_.submit();
      deliver();
    }
  }

  void abandon() noexcept override {
    if (over_.exchange(true) || !started_ || engine_->is_forked()) return;
    const auto dropped = std::move(then_);
    if (!call_.drop()) return;
    forget_stop();
    engine_->async().remove(*this);
  }

  // For async_waiters.
  void give_up() noexcept override {  // also called when the wait is stopped
    if (call_.leave()) return engine_->async().settled(*this);
    const auto until = call_.until();
    if (!until || *until <= engine_->environment().time.now()) return;
    engine_->async().set_deadline(*this, *until);
    engine_->check_deadlines();
  }
  void refuse() noexcept override {
    if (call_.answer().fail(made_failure(closed_during_wait))) call_.drop();
  }
  void deliver() noexcept override {
    forget_stop();
    call_.settled();
    const auto where = std::move(where_);
    auto pass = std::move(passed_);
    if (over_.load()) return;
    ticket_->of = this->shared_from_this();
    ticket_.reset();
    try {
      where(std::move(pass));
    } catch (...) {
      abandon();
      log_failed_executor(std::current_exception());
    }
  }

 private:
  // Part of the task that the executor receives. If the executor drops the task, the continuation never runs,
  // and the ticket abandons the call. Both are made before the call is sent, so that passing on the outcome
  // needs no memory.
  struct ticket {
    ticket() = default;
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    ~ticket() {
      if (of) of->abandon();
    }
    std::shared_ptr<async_call> of;  // null: not passed to the executor yet
  };

  void go_on() {
    if (over_.exchange(true)) return;
    const auto then = std::move(then_);
    then(*this);
  }
  void listen_to_stop() {
    if (!call_.stop().stop_possible()) return;
    const model::annotated_lock lock{stop_mutex_};
    on_stop_.emplace(call_.stop(), [this] {
      if (const auto alive = this->weak_from_this().lock(); alive && !engine_->is_forked()) give_up();
    });
  }
  void forget_stop() noexcept {
    const model::annotated_lock lock{stop_mutex_};
    on_stop_.reset();
  }
  void log_failed_executor(const std::exception_ptr& why) const noexcept {
    try {
      engine_->environment().log(log_level::error, "an executor failed, so {} was abandoned: {}",
                                 call_.described(), thrown_text(why));
    } catch (...) {
      // There is no memory for the line.
    }
  }

  const std::shared_ptr<engine> engine_;
  Call call_;
  executor where_;
  continuation then_;
  std::shared_ptr<ticket> ticket_;
  task passed_;
  bool started_ = false;
  std::atomic<bool> over_{false};      // go_on() or abandon() was called
  model::annotated_mutex stop_mutex_;  // start() may still make the callback while deliver() runs
  std::optional<std::stop_callback<std::function<void()>>> on_stop_ ROWLOCK_GUARDED_BY(stop_mutex_);
};

}  // namespace rowlock::client_layer
