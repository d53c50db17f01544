#include "client/decision/sequential_edit.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

template <class Entry>
void append(std::vector<Entry>& to, const std::vector<Entry>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

template <class Entry, class IdOf>
void leave_out(std::vector<Entry>& entries, const std::vector<hold_id>& gone, IdOf id_of) {
  if (gone.empty()) return;
  std::erase_if(entries, [&](const Entry& entry) {
    return std::find(gone.begin(), gone.end(), id_of(entry)) != gone.end();
  });
}

}  // namespace

void sequential_edit::decided(const store::lock_change& change) {
  show(change);
  add(change);
}

bool sequential_edit::has_left(hold_id waiter) const {
  return std::ranges::find(all_.dequeue, waiter) != all_.dequeue.end();
}

model::lease_view sequential_edit::lease_of(model::lease_id id, const store::lock_change& change) const {
  for (const auto& made : change.create_leases) {
    if (made.id == id) return {made.id, made.client, made.ttl, made.ttl};
  }
  if (view_.holder && view_.holder->id == id) return *view_.holder;
  for (const auto& entry : view_.permits) {
    if (entry.lease && entry.lease->id == id) return *entry.lease;
  }
  for (const auto& entry : view_.queue) {
    if (entry.lease && entry.lease->id == id) return *entry.lease;
  }
  return {id, id, ttl_, ttl_};
}

void sequential_edit::show(const store::lock_change& change) {
  std::vector<store::permit_view> permits;
  for (const auto& permit : change.add_permits) permits.push_back({permit, lease_of(permit.lease, change)});
  if (change.row) {
    std::optional<model::lease_view> holder;
    if (const auto lease = change.row->lease; lease && lease != view_.row.lease) {
      holder = lease_of(*lease, change);
    } else if (lease) {
      holder = view_.holder;
    }
    view_.row = *change.row;
    view_.holder = holder;
  }
  leave_out(view_.permits, change.remove_permits, [](const auto& entry) { return entry.permit.hold; });
  append(view_.permits, permits);
  leave_out(view_.queue, change.dequeue, [](const auto& entry) { return entry.waiter.hold; });
  for (const auto& waiter : change.enqueue) {
    // The view shows no waiter behind rows that were not read.
    if (view_.queue_complete) view_.add_waiter(waiter, lease_of(waiter.lease, change));
  }
}

// What an earlier request adds and a later one removes is never written.
void sequential_edit::add(const store::lock_change& change) {
  if (change.row) all_.row = change.row;
  all_.granted_now = all_.granted_now || change.granted_now;
  leave_out(all_.add_permits, change.remove_permits, [](const auto& permit) { return permit.hold; });
  append(all_.remove_permits, change.remove_permits);
  append(all_.add_permits, change.add_permits);
  leave_out(all_.enqueue, change.dequeue, [](const auto& waiter) { return waiter.hold; });
  append(all_.dequeue, change.dequeue);
  append(all_.enqueue, change.enqueue);
  append(all_.create_leases, change.create_leases);
  append(all_.end_leases, change.end_leases);
  append(all_.notices, change.notices);
  append(all_.history, change.history);
  if (change.value) all_.value = change.value;
  append(all_.data, change.data);
  if (change.request) all_.request = change.request;
  all_.durable = all_.durable || change.durable;
}

}  // namespace rowlock::client_layer
