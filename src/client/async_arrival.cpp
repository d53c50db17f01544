#include "client/async_arrival.hpp"

#include <utility>

namespace rowlock::client_layer {

async_arrival::async_arrival(std::shared_ptr<engine> on, model::lock_definition barrier,
                             const wait_limit& how_long, std::stop_token stop, executor where,
                             continuation then)
    : async_request(
          std::move(on), std::move(stop), std::move(where),
          [then = std::move(then)](async_request& over) { then(static_cast<async_arrival&>(over)); }),
      barrier_(std::move(barrier)),
      how_long_(how_long) {}

std::optional<instant> async_arrival::prepare() {
  engine_->check_usable();
  return member_.emplace(*engine_, barrier_, how_long_).until();
}

std::optional<model::token> async_arrival::take() {
  if (const auto answer = member_->answer().take()) return member_->result(*answer);
  const model::annotated_lock lock{mutex_};
  if (leaves_until_) throw member_->unknown();
  return member_->result(nullptr);  // it was stopped before it began
}

// It may be stopped when its time is up, and be called for both.
bool async_arrival::leave() noexcept {
  instant end{};
  {
    const model::annotated_lock lock{mutex_};
    if (leaves_until_) {
      return engine_->shared().time.now() >= *leaves_until_ && member_->answer().give_up();
    }
    leaves_until_ = end = member_->leave();
  }
  engine_->async().set_deadline(*this, end);
  engine_->check_deadlines();
  return false;
}

std::string async_arrival::described() const {
  return "the arrival at \"" + barrier_.name + "\"";
}

}  // namespace rowlock::client_layer
