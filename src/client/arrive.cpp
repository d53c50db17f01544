#include "client/arrive.hpp"

#include <memory>
#include <utility>

namespace rowlock::client_layer {

arrival::arrival(engine& on, const model::lock_definition& barrier, const wait_limit& how_long)
    : engine_(on),
      operation_(
          std::make_shared<acquire_operation>(model::lock_request{barrier, model::lock_mode::shared}, true)),
      is_limited_(how_long.limit.has_value()) {
  if (is_limited_) until_ = later(on.shared().time.now(), *how_long.limit);
}

void arrival::submit() {
  engine_.parts().queue.submit(operation_);
}

instant arrival::leave() noexcept {
  answer().leave();
  look_again();
  return engine_.shared().time.now() + engine_.shared().longest_call();
}

bool arrival::detach() noexcept {
  if (!answer().detach()) return false;
  look_again();
  return true;
}

// One that a worker has is looked at by the worker, which sees that its caller leaves.
void arrival::look_again() noexcept {
  if (auto waiting = engine_.waiters().take(*operation_))
    engine_.parts().queue.submit_again(std::move(waiting));
}

std::optional<model::token> arrival::result(const hold_ptr& answered) const {
  if (answered) return answered->token();
  if (!is_limited_) throw error(errc::cancelled, "the wait at a barrier was stopped");
  return {};
}

error arrival::unknown() const {
  return {errc::unreachable,
          "the wait at \"" + operation_->definition.name +
              "\" has ended, but the database did not answer: whether all had arrived is unknown",
          {},
          true};
}

std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop) {
  on.check_usable();
  arrival member{on, barrier, how_long};
  if (stop.stop_requested()) return member.result(nullptr);
  on.start_keeper();
  auto& time = on.shared().time;
  member.submit();
  if (const auto answer = member.answer().wait_a_while(time, member.until(), stop)) {
    return member.result(*answer);
  }
  const auto end = member.leave();
  if (const auto answer = member.answer().wait(time, end)) return member.result(*answer);
  throw member.unknown();
}

}  // namespace rowlock::client_layer
