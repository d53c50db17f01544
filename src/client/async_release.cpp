#include "client/async_release.hpp"

#include "client/errors.hpp"

#include <utility>

namespace rowlock::client_layer {

struct async_release::ticket {
  continuation then;
  std::shared_ptr<async_release> of;  // null: not passed to the executor yet
};

async_release::async_release(std::shared_ptr<engine> on, executor where, continuation then)
    : engine_(std::move(on)),
      where_(std::move(where)),
      ticket_(std::make_shared<ticket>()),
      passed_([pass = ticket_] { pass->of->go_on(pass->then); }) {
  ticket_->then = std::move(then);
}

// async_waiters keeps this object until it is settled. The answer must not, because the engine's threads destroy it.
bool async_release::may_wait(instant until) noexcept {
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

void async_release::give_up() noexcept {
  if (answer_->give_up()) engine_->async().settled(*this);
}

void async_release::tell() noexcept {
  const auto where = std::move(where_);
  auto pass = std::move(passed_);
  if (over_.load()) return;
  ticket_->of = shared_from_this();
  ticket_.reset();
  try {
    where(std::move(pass));
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
