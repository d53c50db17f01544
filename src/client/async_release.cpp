#include "client/async_release.hpp"

#include "client/errors.hpp"

#include <utility>

namespace rowlock::client_layer {

async_release::async_release(std::shared_ptr<engine> on, executor where, continuation then)
    : engine_(std::move(on)), where_(std::move(where)), then_(std::move(then)) {}

// async_waiters keeps this object until it is settled. The answer must not, because the engine's threads destroy it.
bool async_release::may_wait(instant until) {
  try {
    auto& waiters = engine_->start_async();
    answer_->on_complete([this, &waiters] { waiters.settled(*this); });
    return waiters.add(shared_from_this(), until);
  } catch (...) {
    return false;  // the client is closed, or no thread can be started
  }
}

void async_release::start(const hold_ptr& hold, release_result otherwise) {
  const auto self = shared_from_this();  // it may be settled and continue before this returns
  const bool waits = may_wait(later(engine_->shared().time.now(), engine_->shared().settings.close_timeout));
  if (!waits) answer_->on_complete({});
  if (hold) {
    engine_->releaser().begin(*hold, answer_);
  } else {
    answer_->complete(otherwise);
  }
  waits ? engine_->check_deadlines() : tell();
}

void async_release::give_up() {
  if (answer_->give_up()) engine_->async().settled(*this);
}

void async_release::tell() {
  const auto where = std::move(where_);
  // If the executor drops its function, the caller's continuation is destroyed there.
  auto then = std::move(then_);
  if (over_.load()) return;
  try {
    where([self = shared_from_this(), then = std::move(then)] { self->go_on(then); });
  } catch (...) {
    engine_->shared().log(log_level::error,
                          "an executor failed, so the result of a release was not delivered: {}",
                          thrown_text(std::current_exception()));
  }
}

void async_release::go_on(const continuation& then) {
  if (over_.exchange(true)) return;
  auto result = release_result::unknown;
  try {
    result = answer_->take().value_or(release_result::unknown);
  } catch (const error&) {
    // Refused for good: whether it is held is not known.
  }
  then(result);
}

}  // namespace rowlock::client_layer
