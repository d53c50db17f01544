#include "client/async_acquire.hpp"

#include "client/errors.hpp"

#include <utility>

namespace rowlock::client_layer {

// What the executor receives. If the executor drops it, the continuation never runs, and the grant is released.
struct async_acquire::ticket {
  explicit ticket(std::shared_ptr<async_acquire> of) : wait(std::move(of)) {}
  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;
  ~ticket() { wait->abandon(); }
  const std::shared_ptr<async_acquire> wait;
};

async_acquire::async_acquire(std::shared_ptr<engine> on, const wait_limit& how_long, std::stop_token stop,
                             executor where, continuation then)
    : engine_(std::move(on)),
      how_long_(how_long),
      stop_(std::move(stop)),
      where_(std::move(where)),
      then_(std::move(then)) {}

async_acquire::~async_acquire() {
  abandon();
}

void async_acquire::start(const model::lock_request& request, const acquire_options& how) {
  if (how.detect_deadlock) {
    throw error(
        errc::invalid_argument,
        "detect_deadlock works only for waiting threads, and an asynchronous acquire has none; leave it out");
  }
  auto asked = engine_->prepare(request, how_long_, how);
  auto& waiters = engine_->start_async();
  const bool asks = !stop_.stop_requested();
  if (asks) engine_->start_keeper();
  operation_ = std::move(asked.operation);
  until_ = asked.until;
  // async_waiters keeps this object until then. The operation must not, because the engine's threads destroy it.
  operation_->answer.on_complete([this, &waiters] { waiters.settled(*this); });
  const auto self = shared_from_this();  // the wait may be settled and continue before this returns
  if (!waiters.add(self)) {
    operation_->answer.give_up();
    throw closed_during_wait();
  }
  if (!asks) {
    if (operation_->answer.give_up()) waiters.settled(*this);
    return;
  }
  try {
    if (stop_.stop_possible()) {
      const model::annotated_lock lock{stop_mutex_};
      on_stop_.emplace(stop_, [this] {
        if (const auto alive = weak_from_this().lock(); alive && !engine_->is_forked()) give_up();
      });
    }
    if (until_) engine_->check_deadlines();
    engine_->parts().queue.submit(operation_);
  } catch (...) {
    // From here on every outcome goes to the continuation.
    operation_->answer.fail(std::current_exception());
  }
}

hold_ptr async_acquire::take() {
  if (auto answer = operation_->answer.take()) return std::move(*answer);
  return engine_->result_without_answer(*operation_, how_long_, stop_);
}

void async_acquire::give_up() {
  if (!operation_->answer.give_up()) return;
  engine_->abandon(*operation_);
  engine_->async().settled(*this);
}

void async_acquire::refuse() {
  operation_->answer.fail(std::make_exception_ptr(closed_during_wait()));
}

void async_acquire::tell() {
  forget_stop();
  if (operation_->ttl) engine_->check_deadlines();
  const auto where = std::move(where_);
  if (over_.load()) return;
  try {
    where([pass = std::make_shared<ticket>(shared_from_this())] { pass->wait->go_on(); });
  } catch (...) {
    abandon();
    engine_->shared().log(log_level::error, "an executor failed, so the acquire of \"{}\" was abandoned: {}",
                          operation_->definition.name, thrown_text(std::current_exception()));
  }
}

void async_acquire::go_on() {
  if (over_.exchange(true)) return;
  const auto then = std::move(then_);
  then(*this);
}

void async_acquire::abandon() noexcept {
  if (over_.exchange(true) || !operation_ || engine_->is_forked()) return;
  const auto dropped = std::move(then_);
  try {
    if (operation_->answer.give_up()) {
      forget_stop();
      engine_->abandon(*operation_);
      engine_->async().remove(*this);
    } else if (const auto granted = operation_->answer.take(); granted && *granted) {
      engine_->releaser().begin(**granted);
    }
  } catch (const error&) {
    // It had failed: nothing was granted.
  } catch (const std::exception& failure) {
    engine_->shared().log(log_level::error, "cannot release a hold that nobody waits for any more: {}",
                          failure.what());
  }
}

void async_acquire::forget_stop() {
  const model::annotated_lock lock{stop_mutex_};
  on_stop_.reset();
}

}  // namespace rowlock::client_layer
