#include "client/decisions.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

using store::lock_change;
using store::lock_view;
using what = outcome::what;

// The row while a decision is made, and the queue as far as it was read.
class draft {
 public:
  draft(const lock_view& view, std::chrono::microseconds skew) : view_(view), row_(view.row), skew_(skew) {
    for (const auto& entry : view.queue) {
      if (entry.lease) {
        living_.push_back(entry);
      } else {
        made_.change.dequeue.push_back(entry.waiter.hold);
      }
    }
  }

  const model::lock_row& row() const { return row_; }
  bool held_by(hold_id hold) const { return row_.hold == hold; }
  bool held_by_the_living() const { return row_.lease && view_.holder; }
  bool is_expired(const model::lease_view& lease) const { return lease.expires_in + skew_ <= skew_.zero(); }

  bool is_queued(hold_id hold) const {
    return (view_.own && view_.own->hold == hold && !removed(hold)) ||
           std::any_of(living_.begin(), living_.end(), [&](const auto& w) { return w.waiter.hold == hold; });
  }

  // The first living waiter, unless only unread rows could tell.
  const store::waiter_view* head() const { return living_.empty() ? nullptr : &living_.front(); }
  bool head_is_unknown() const { return living_.empty() && !view_.queue_complete; }

  void clear_holder() {
    row_.lease.reset();
    row_.hold.reset();
    row_.in_use = 0;
  }

  void grant(lease_id lease, hold_id hold) {
    if (is_queued(hold)) dequeue(hold);
    row_.lease = lease;
    row_.hold = hold;
    row_.in_use = row_.capacity;
    row_.token = model::next_token(row_.token, view_.epoch_floor);
    made_.change.granted_now = true;
    made_.change.durable = true;
  }

  // I9: who is granted is never chosen but here.
  void grant_head() {
    const store::waiter_view next = *head();
    grant(next.waiter.lease, next.waiter.hold);
    made_.outcome.next = handed_over{next.waiter, next.lease->client, row_.token};
  }

  void bump_token() { row_.token = model::next_token(row_.token, view_.epoch_floor); }

  void enqueue(lease_id lease, hold_id hold) {
    made_.change.enqueue = model::waiter{row_.next_ticket++, hold, lease};
  }

  void dequeue(hold_id hold) {
    if (!removed(hold)) made_.change.dequeue.push_back(hold);
    std::erase_if(living_, [&](const auto& entry) { return entry.waiter.hold == hold; });
  }

  lock_change& change() { return made_.change; }

  decision finish(outcome::what result) {
    made_.outcome.result = result;
    row_.has_queue = !living_.empty() || made_.change.enqueue || !view_.queue_complete;
    if (!same(row_, view_.row) || made_.change.enqueue || !made_.change.dequeue.empty())
      made_.change.row = row_;
    return std::move(made_);
  }

  // Nothing is written.
  decision leave(outcome::what result) {
    made_.change = {};
    made_.outcome.result = result;
    return std::move(made_);
  }

  decision leave_expired(lease_id lease) {
    made_.outcome.leases = {lease};
    return leave(what::expired);
  }

  client_layer::outcome& outcome() { return made_.outcome; }

 private:
  bool removed(hold_id hold) const {
    const auto& gone = made_.change.dequeue;
    return std::find(gone.begin(), gone.end(), hold) != gone.end();
  }

  static bool same(const model::lock_row& a, const model::lock_row& b) {
    return a.in_use == b.in_use && a.token == b.token && a.next_ticket == b.next_ticket &&
           a.lease == b.lease && a.hold == b.hold && a.has_queue == b.has_queue;
  }

  const lock_view& view_;
  model::lock_row row_;
  std::chrono::microseconds skew_;
  std::vector<store::waiter_view> living_;
  decision made_;
};

// Whether it is known who comes next. If not, says what must be done first and leaves the holder as it is, so
// that the same request can be decided again.
std::optional<decision> unsettled(draft& lock) {
  if (lock.head_is_unknown()) return lock.finish(what::again);
  const auto* head = lock.head();
  if (head != nullptr && lock.is_expired(*head->lease)) return lock.leave_expired(head->lease->id);
  return {};
}

// Frees the row and grants it to its first living waiter, if it has one. Where the epoch is not the right one
// a token could repeat: then the row stays free, with its queue, until the world is refreshed.
void pass_on(draft& lock, const lock_view& view) {
  lock.clear_holder();
  if (lock.head() != nullptr && view.same_world) lock.grant_head();
}

// A lock of a later version's kind has rules that are not known here.
std::optional<decision> unknown_kind(draft& lock) {
  if (lock.row().kind != model::lock_kind::unknown) return {};
  return lock.leave(what::mismatch);
}

decision stay_behind(draft& lock, const acquire_wish& wish, std::chrono::microseconds takeover_in) {
  lock.outcome().takeover_in = takeover_in;
  if (lock.is_queued(wish.hold)) return lock.finish(what::queued);
  if (!wish.wait) return lock.finish(what::busy);
  lock.enqueue(wish.lease, wish.hold);
  return lock.finish(what::queued);
}

}  // namespace

decision decide_acquire(const lock_view& view, const acquire_wish& wish, std::chrono::microseconds skew) {
  draft lock{view, skew};
  const auto& stored = view.row;
  if (stored.kind != wish.definition.kind || stored.capacity != wish.definition.capacity) {
    lock.outcome().stored = {stored.name, stored.kind, stored.capacity};
    return lock.leave(what::mismatch);
  }
  if (lock.held_by(wish.hold) && lock.held_by_the_living()) {
    lock.outcome().token = stored.token;
    return lock.leave(what::granted);
  }
  if (lock.held_by_the_living()) {
    if (lock.is_expired(*view.holder)) return lock.leave_expired(view.holder->id);
    return stay_behind(lock, wish, view.holder->expires_in);
  }
  // Free, or held by the dead.
  if (!view.replaceable) return stay_behind(lock, wish, std::chrono::microseconds{0});
  if (!view.same_world) return lock.leave(what::foreign);
  if (auto first = unsettled(lock)) return std::move(*first);
  if (lock.head() != nullptr) {
    pass_on(lock, view);
    if (lock.held_by(wish.hold)) {
      lock.outcome().token = lock.row().token;
      lock.outcome().next.reset();
      return lock.finish(what::granted);
    }
    return stay_behind(lock, wish, std::chrono::hours{1});
  }
  lock.grant(wish.lease, wish.hold);
  lock.outcome().token = lock.row().token;
  return lock.finish(what::granted);
}

decision decide_release(const lock_view& view, hold_id hold, std::optional<lease_id> ended,
                        std::chrono::microseconds skew) {
  draft lock{view, skew};
  if (!lock.held_by(hold)) {
    if (!lock.is_queued(hold)) return lock.leave(what::absent);
    lock.dequeue(hold);
    return lock.finish(what::released);
  }
  if (!view.replaceable) return lock.leave(what::guarded);
  const bool was_living = lock.held_by_the_living();
  if (auto first = unsettled(lock)) return std::move(*first);
  pass_on(lock, view);
  if (ended) {
    lock.change().end_leases.push_back(*ended);
    lock.change().durable = true;
  }
  return lock.finish(was_living ? what::released : what::absent);
}

decision decide_force(const lock_view& view, std::chrono::microseconds skew) {
  draft lock{view, skew};
  if (auto refused = unknown_kind(lock)) return std::move(*refused);
  if (!lock.row().lease) return lock.leave(what::absent);
  if (!view.replaceable) return lock.leave(what::guarded);
  if (!view.same_world) return lock.leave(what::foreign);
  if (auto first = unsettled(lock)) return std::move(*first);
  lock.bump_token();
  pass_on(lock, view);
  if (view.holder) lock.change().notice = view.holder->client;
  lock.change().durable = true;
  return lock.finish(what::released);
}

decision decide_sweep(const lock_view& view, std::chrono::microseconds skew) {
  draft lock{view, skew};
  if (auto refused = unknown_kind(lock)) return std::move(*refused);
  if (lock.held_by_the_living()) {
    if (lock.is_expired(*view.holder)) return lock.leave_expired(view.holder->id);
    return lock.finish(what::busy);
  }
  if (!view.replaceable) return lock.leave(what::guarded);
  if (!view.same_world) return lock.leave(what::foreign);
  if (auto first = unsettled(lock)) return std::move(*first);
  pass_on(lock, view);
  return lock.finish(what::released);
}

decision decide_move(const lock_view& view, hold_id hold, const store::lease_record& lease) {
  draft lock{view, std::chrono::microseconds{0}};
  if (!lock.held_by(hold) || !lock.held_by_the_living()) return lock.leave(what::absent);
  lock.outcome().token = view.row.token;
  if (view.row.lease == lease.id) return lock.leave(what::granted);
  decision moved = lock.leave(what::granted);
  moved.change.row = view.row;
  moved.change.row->lease = lease.id;
  moved.change.create_lease = lease;
  moved.change.durable = true;
  return moved;
}

}  // namespace rowlock::client_layer
