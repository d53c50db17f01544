#include "client/core/waiter_registry.hpp"

namespace rowlock::client_layer {

bool waiter_registry::enter(std::shared_ptr<acquire_operation> operation, instant takeover_at) {
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  const auto hold = operation->hold;
  const auto place = hold_of_operation_.insert_or_assign(operation.get(), hold).first;
  try {
    entries_.insert_or_assign(hold, waiter_entry{operation, takeover_at});
  } catch (...) {
    hold_of_operation_.erase(place);
    throw;
  }
  operation->stage.registered();
  return true;
}

std::shared_ptr<acquire_operation> waiter_registry::take(model::hold_id hold) noexcept {
  const model::annotated_lock lock{mutex_};
  return take_from(entries_.find(hold));
}

std::shared_ptr<acquire_operation> waiter_registry::take_if_due(model::hold_id hold, instant now) {
  const model::annotated_lock lock{mutex_};
  const auto at = entries_.find(hold);
  if (at != entries_.end() && at->second.operation->not_before > now) return nullptr;
  return take_from(at);
}

std::shared_ptr<acquire_operation> waiter_registry::take(const acquire_operation& operation) noexcept {
  const model::annotated_lock lock{mutex_};
  // By address: only the thread that owns the operation may read its hold id, and that may be another thread.
  const auto place = hold_of_operation_.find(&operation);
  return place == hold_of_operation_.end() ? nullptr : take_from(entries_.find(place->second));
}

std::shared_ptr<acquire_operation> waiter_registry::take_from(waiter_entries::iterator at) noexcept {
  if (at == entries_.end()) return nullptr;
  auto operation = std::move(at->second.operation);
  hold_of_operation_.erase(operation.get());
  entries_.erase(at);
  operation->stage.taken();
  return operation;
}

linked_list<acquire_operation> waiter_registry::take_all() noexcept {
  const model::annotated_lock lock{mutex_};
  linked_list<acquire_operation> all;
  for (auto& [hold, entry] : entries_) {
    entry.operation->stage.taken();
    all.push(std::move(entry.operation));
  }
  entries_.clear();
  hold_of_operation_.clear();
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
  if (const auto found = entries_.find(hold); found != entries_.end()) found->second.takeover_at = at;
}

std::vector<store::hold_query> waiter_registry::queries() const {
  const model::annotated_lock lock{mutex_};
  std::vector<store::hold_query> all;
  all.reserve(entries_.size());
  for (const auto& [hold, taken] : entries_) all.push_back({taken.operation->definition.name, hold});
  return all;
}

std::vector<store::hold_query> waiter_registry::queries(std::span<const model::hold_id> of) const {
  const model::annotated_lock lock{mutex_};
  std::vector<store::hold_query> found;
  for (const auto& hold : of) {
    if (const auto at = entries_.find(hold); at != entries_.end())
      found.push_back({at->second.operation->definition.name, hold});
  }
  return found;
}

std::optional<instant> waiter_registry::next_takeover() const {
  const model::annotated_lock lock{mutex_};
  std::optional<instant> first;
  for (const auto& [hold, taken] : entries_) {
    if (!first || taken.takeover_at < *first) first = taken.takeover_at;
  }
  return first;
}

bool waiter_registry::empty() const {
  const model::annotated_lock lock{mutex_};
  return entries_.empty();
}

}  // namespace rowlock::client_layer
