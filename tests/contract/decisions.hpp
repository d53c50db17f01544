// The simplest decisions that an edit can make, for tests.
#pragma once

#include "store/store.hpp"

#include <algorithm>
#include <functional>

namespace rowlock::test {

using decision = std::function<store::lock_change(const store::lock_view&)>;

inline store::lock_change nothing(const store::lock_view&) {
  return {};
}

// Adds a waiter with the next ticket.
inline decision enqueue(model::lease_id lease, model::hold_id hold) {
  return [=](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.enqueue = {{change.row->next_ticket++, hold, lease}};
    change.row->has_queue = true;
    return change;
  };
}

// Removes a waiter from the queue, and records whether the queue is empty then.
inline decision leave(model::hold_id hold) {
  return [=](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.dequeue = {hold};
    const auto others =
        std::ranges::count_if(now.queue, [&](const auto& one) { return one.waiter.hold != hold; });
    change.row->has_queue = others > 0 || !now.queue_complete;
    return change;
  };
}

inline void give(store::lock_change& change, const store::lock_view& now, model::lease_id lease,
                 model::hold_id hold) {
  change.row->lease = lease;
  change.row->hold = hold;
  change.row->in_use = change.row->capacity;
  change.row->token = model::next_token(now.row.token, now.epoch_floor);
  change.granted_now = true;
  change.durable = true;
}

inline void take(store::lock_change& change) {
  change.row->lease.reset();
  change.row->hold.reset();
  change.row->in_use = 0;
}

// Grants the lock whatever the order, and whoever holds it.
inline decision grant_to(model::lease_id lease, model::hold_id hold) {
  return [=](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    give(change, now, lease, hold);
    return change;
  };
}

// Grants the lock to the first living waiter, or frees it. Removes the dead waiters ahead of that one.
inline store::lock_change hand_over(const store::lock_view& now) {
  store::lock_change change;
  change.row = now.row;
  take(change);
  for (const auto& one : now.queue) {
    change.dequeue.push_back(one.waiter.hold);
    if (!one.lease) continue;
    give(change, now, one.lease->id, one.waiter.hold);
    break;
  }
  change.row->has_queue = change.dequeue.size() < now.queue.size() || !now.queue_complete;
  return change;
}

// Takes the lock from its holder: the token rises without a grant, and the holder's client is notified.
inline store::lock_change force_release(const store::lock_view& now) {
  store::lock_change change;
  change.row = now.row;
  take(change);
  change.row->token = model::next_token(now.row.token, now.epoch_floor);
  if (now.holder) change.notices = {now.holder->client};
  change.durable = true;
  return change;
}

}  // namespace rowlock::test
