#include "client/core/waiter_registry.hpp"

namespace rowlock::client_layer {

bool waiter_registry::enter(std::shared_ptr<acquire_operation> operation, instant takeover_at) {
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  const auto hold = operation->hold;
  const auto place = places_.insert_or_assign(operation.get(), hold).first;
  try {
    seats_.insert_or_assign(hold, seat{operation, takeover_at});
  } catch (...) {
    places_.erase(place);
    throw;
  }
  return true;
}

std::shared_ptr<acquire_operation> waiter_registry::take(model::hold_id hold) noexcept {
  const model::annotated_lock lock{mutex_};
  return take_from(seats_.find(hold));
}

std::shared_ptr<acquire_operation> waiter_registry::take_to_ask(model::hold_id hold, instant now) {
  const model::annotated_lock lock{mutex_};
  const auto at = seats_.find(hold);
  if (at != seats_.end() && at->second.operation->not_before > now) return nullptr;
  return take_from(at);
}

std::shared_ptr<acquire_operation> waiter_registry::take(const acquire_operation& operation) noexcept {
  const model::annotated_lock lock{mutex_};
  // By address: only the thread that owns the operation may read its hold id, and that may be another thread.
  const auto place = places_.find(&operation);
  return place == places_.end() ? nullptr : take_from(seats_.find(place->second));
}

std::shared_ptr<acquire_operation> waiter_registry::take_from(seats::iterator at) noexcept {
  if (at == seats_.end()) return nullptr;
  auto operation = std::move(at->second.operation);
  places_.erase(operation.get());
  seats_.erase(at);
  return operation;
}

linked_list<acquire_operation> waiter_registry::take_all() noexcept {
  const model::annotated_lock lock{mutex_};
  linked_list<acquire_operation> all;
  for (auto& [hold, taken] : seats_) all.push(std::move(taken.operation));
  seats_.clear();
  places_.clear();
  return all;
}

linked_list<acquire_operation> waiter_registry::close() noexcept {
  {
    const model::annotated_lock lock{mutex_};
    closed_ = true;
  }
  return take_all();
}

void waiter_registry::set_takeover(model::hold_id hold, instant at) {
  const model::annotated_lock lock{mutex_};
  if (const auto found = seats_.find(hold); found != seats_.end()) found->second.takeover_at = at;
}

std::vector<store::hold_query> waiter_registry::queries() const {
  const model::annotated_lock lock{mutex_};
  std::vector<store::hold_query> all;
  all.reserve(seats_.size());
  for (const auto& [hold, taken] : seats_) all.push_back({taken.operation->definition.name, hold});
  return all;
}

std::vector<store::hold_query> waiter_registry::queries(std::span<const model::hold_id> of) const {
  const model::annotated_lock lock{mutex_};
  std::vector<store::hold_query> found;
  for (const auto& hold : of) {
    if (const auto at = seats_.find(hold); at != seats_.end())
      found.push_back({at->second.operation->definition.name, hold});
  }
  return found;
}

std::optional<instant> waiter_registry::next_takeover() const {
  const model::annotated_lock lock{mutex_};
  std::optional<instant> first;
  for (const auto& [hold, taken] : seats_) {
    if (!first || taken.takeover_at < *first) first = taken.takeover_at;
  }
  return first;
}

bool waiter_registry::empty() const {
  const model::annotated_lock lock{mutex_};
  return seats_.empty();
}

}  // namespace rowlock::client_layer
