#include "client/core/keeper_agenda.hpp"

#include <algorithm>

namespace rowlock::client_layer {

bool keeper_agenda::plan_look(instant when) noexcept {
  auto planned = look_at_.load();
  const auto wished = when.time_since_epoch().count();
  while (wished < planned) {
    if (look_at_.compare_exchange_weak(planned, wished)) return true;
  }
  return false;
}

void keeper_agenda::look_at(instant when) noexcept {
  if (plan_look(when) || sleeps_past_waiters_.load() || silent_.load()) wake();
}

void keeper_agenda::plan_look_up(std::span<const model::hold_id> waiters) noexcept {
  const model::annotated_lock lock{mutex_};
  try {
    named_.insert(named_.end(), waiters.begin(), waiters.end());
  } catch (...) {
    plan_look(instant{});  // there is no memory, so all are looked at
  }
}

void keeper_agenda::look_up(std::span<const model::hold_id> waiters) noexcept {
  plan_look_up(waiters);
  wake();
}

void keeper_agenda::renew_soon() noexcept {
  wants_renewal_.store(true);
  wake();
}

bool keeper_agenda::has_named() const {
  const model::annotated_lock lock{mutex_};
  return !named_.empty();
}

std::vector<model::hold_id> keeper_agenda::named(std::size_t most) const {
  const model::annotated_lock lock{mutex_};
  return {named_.begin(), named_.begin() + static_cast<std::ptrdiff_t>(std::min(most, named_.size()))};
}

void keeper_agenda::drop_named(std::size_t count) noexcept {
  const model::annotated_lock lock{mutex_};
  named_.erase(named_.begin(), named_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace rowlock::client_layer
