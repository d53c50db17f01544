#include "client/async_request.hpp"

#include "client/errors.hpp"

#include <utility>

namespace rowlock::client_layer {

// What the executor receives. If the executor drops it, the continuation never runs, and the request is abandoned.
struct async_request::ticket {
  ticket() = default;
  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;
  ~ticket() {
    if (wait) wait->abandon();
  }
  std::shared_ptr<async_request> wait;  // null: not passed to the executor yet
};

async_request::async_request(std::shared_ptr<engine> on, std::stop_token stop, executor where,
                             continuation then)
    : engine_(std::move(on)), stop_(std::move(stop)), where_(std::move(where)), then_(std::move(then)) {}

void async_request::check_without_thread(const acquire_options& how) {
  if (!how.detect_deadlock) return;
  throw error(
      errc::invalid_argument,
      "detect_deadlock works only for waiting threads, and an asynchronous acquire has none; leave it out");
}

void async_request::start() {
  const auto until = prepare();
  auto& waiters = engine_->start_async();
  const bool asks = !stop_.stop_requested();
  if (asks) engine_->start_keeper();
  ticket_ = std::make_shared<ticket>();
  passed_ = [pass = ticket_] { pass->wait->go_on(); };
  prepared_ = true;
  // async_waiters keeps this object until then. The answer must not, because the engine's threads destroy it.
  answer().on_complete([this, &waiters] { waiters.settled(*this); });
  const auto self = shared_from_this();  // it may be settled and continue before this returns
  try {
    if (!waiters.add(self, until)) throw closed_during_wait();
  } catch (...) {
    answer().give_up();
    throw;
  }
  if (!asks) {
    if (answer().give_up()) waiters.settled(*this);
    return;
  }
  try {
    if (stop_.stop_possible()) {
      const model::annotated_lock lock{stop_mutex_};
      on_stop_.emplace(stop_, [this] {
        if (const auto alive = weak_from_this().lock(); alive && !engine_->is_forked()) give_up();
      });
    }
    if (until) engine_->check_deadlines();
    submit();
  } catch (...) {
    // From here on every outcome goes to the continuation.
    answer().fail(std::current_exception());
  }
}

void async_request::give_up() noexcept {
  if (leave()) engine_->async().settled(*this);
}

void async_request::refuse() noexcept {
  answer().fail(made_failure(closed_during_wait));
}

void async_request::tell() noexcept {
  forget_stop();
  before_told();
  const auto where = std::move(where_);
  auto pass = std::move(passed_);
  if (over_.load()) return;
  ticket_->wait = shared_from_this();
  ticket_.reset();
  try {
    where(std::move(pass));
  } catch (...) {
    abandon();
    log_failed_executor(std::current_exception());
  }
}

void async_request::log_failed_executor(const std::exception_ptr& why) const noexcept {
  try {
    engine_->shared().log(log_level::error, "an executor failed, so {} was abandoned: {}", described(),
                          thrown_text(why));
  } catch (...) {
    // There is no memory for the line.
  }
}

void async_request::go_on() {
  if (over_.exchange(true)) return;
  const auto then = std::move(then_);
  then(*this);
}

void async_request::abandon() noexcept {
  if (over_.exchange(true) || !prepared_ || engine_->is_forked()) return;
  const auto dropped = std::move(then_);
  try {
    if (detach()) {
      forget_stop();
      engine_->async().remove(*this);
    } else {
      drop_answer();
    }
  } catch (const std::exception&) {
    // It had failed: nothing was granted.
  }
}

void async_request::forget_stop() noexcept {
  const model::annotated_lock lock{stop_mutex_};
  on_stop_.reset();
}

}  // namespace rowlock::client_layer
