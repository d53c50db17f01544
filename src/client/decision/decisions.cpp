#include "client/decision/decisions.hpp"

#include "client/decision/decide_rendezvous.hpp"
#include "client/decision/lock_editor.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

using model::lock_kind;
using model::lock_mode;
using std::chrono::microseconds;
using store::lock_view;
using what = outcome::what;

decision stay_behind(lock_editor& lock, const acquire_terms& wish, microseconds takeover_in) {
  lock.outcome().takeover_in = takeover_in;
  if (lock.is_queued(wish.hold)) return lock.finish(what::queued);
  if (!wish.wait) return lock.finish(what::busy);
  const bool shared = wish.mode == lock_mode::shared;
  lock.enqueue({0, wish.hold, wish.lease, shared ? wish.weight : lock.row().capacity, wish.mode});
  return lock.finish(what::queued);
}

decision granted(lock_editor& lock, hold_id hold) {
  const auto* permit = lock.permit_of(hold);
  lock.outcome().token = permit ? permit->token : lock.row().token;
  lock.outcome().weight = permit ? permit->weight : lock.row().capacity;
  std::erase_if(lock.outcome().next, [&](const auto& one) { return one.waiter.hold == hold; });
  return lock.finish(what::granted);
}

std::int64_t weight_of(const acquire_terms& wish, const lock_editor& lock) {
  if (!wish.everything) return wish.weight;
  return std::max<std::int64_t>(lock.row().capacity - lock.row().in_use, 1);
}

// The end of a sweep. Dead waiters behind those that were read can be read only once these have left the queue.
decision swept(lock_editor& lock, const lock_view& view, what result) {
  const bool has_removed = !view.queue_complete && !lock.change().dequeue.empty();
  if (!has_removed) return lock.finish(result);
  // A decision that grants is not repeated, so another sweep follows it.
  if (lock.outcome().next.empty()) return lock.finish(what::decide_again);
  lock.outcome().more = true;
  return lock.finish(result);
}

bool stands_on(const lock_view& view, hold_id hold, lease_id lease) {
  if (view.row.hold == hold && view.row.lease == lease) return true;
  if (view.own && view.own->hold == hold) return view.own->lease == lease;
  return std::any_of(view.permits.begin(), view.permits.end(), [&](const auto& entry) {
    return entry.permit.hold == hold && entry.permit.lease == lease;
  });
}

// A release has handed the lock over to the request, on the lease of the wish, or the answer to an earlier try was lost.
// That try has put the hold onto an explicit-ttl lease, which has no other hold and ends.
decision move_granted(const lock_view& view, const acquire_terms& wish, const store::lease_record& own) {
  const auto from = lock_editor{view, microseconds{0}}.lease_of(wish.hold).id;
  auto moved = decide_move(view, wish.hold, own);
  if (!moved.change.empty() && from != wish.lease) moved.change.end_leases.push_back(from);
  return moved;
}

}  // namespace

decision decide_acquire(const lock_view& view, const acquire_terms& wish, microseconds skew) {
  lock_editor lock{view, skew};
  const auto& stored = view.row;
  // If the lock has the hold, the definitions were compared when it was granted. They are not compared again,
  // because a resize may have changed the capacity since.
  const auto token = is_rendezvous(stored.kind) ? std::nullopt : lock.token_of(wish.hold);
  if (token) {
    const auto* permit = lock.permit_of(wish.hold);
    lock.outcome().token = *token;
    lock.outcome().weight = permit ? permit->weight : stored.capacity;
    return lock.unchanged(what::granted);
  }
  if (!lock.is_queued(wish.hold)) {
    if (auto other = lock.refuse_other(wish.definition)) return std::move(*other);
  }
  if (is_rendezvous(stored.kind)) return decide_rendezvous(lock, view, wish);
  if (lock.is_held_by_living()) {
    if (auto due = lock.due_holders(); !due.empty()) return lock.kill_first(std::move(due));
    return stay_behind(lock, wish, lock.takeover_in());
  }
  if (lock.row().lease && !view.replaceable) return stay_behind(lock, wish, microseconds{0});
  lock.remove_dead_holder(std::max(stored.delay, wish.definition.delay));
  if (lock.row().lease) return stay_behind(lock, wish, lock.takeover_in());
  const auto fits = [&] { return lock.fits(wish.mode, weight_of(wish, lock)); };
  if (!view.is_recorded_server && (lock.has_waiters() ? lock.has_next() : fits()))
    return lock.unchanged(what::unrecorded_server);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.grant_everybody_next();
  if (lock.token_of(wish.hold)) return granted(lock, wish.hold);
  const bool in_turn = !lock.has_waiters() || (!stored.fair && !wish.everything);
  if (in_turn && view.is_recorded_server && fits()) {
    // The view does not show the lease of the request, and nothing reads the lease of this grant afterwards.
    lock.grant({0, wish.hold, wish.lease, weight_of(wish, lock), wish.mode}, {});
    return granted(lock, wish.hold);
  }
  if (auto due = lock.due_holders(); !due.empty()) return lock.kill_first(std::move(due));
  return stay_behind(lock, wish, lock.takeover_in());
}

decision decide_acquire_with_ttl(const lock_view& view, const acquire_terms& wish,
                                 const store::lease_record& own, microseconds skew) {
  auto made = decide_acquire(view, wish, skew);
  if (made.outcome.result != what::granted) return made;
  if (made.change.empty()) return move_granted(view, wish, own);
  auto& change = made.change;
  if (change.row->hold == wish.hold) change.row->lease = own.id;
  for (auto& permit : change.add_permits) {
    if (permit.hold == wish.hold) permit.lease = own.id;
  }
  change.create_leases.push_back(own);
  return made;
}

std::vector<decision> decide_acquire_together(std::span<const store::edit_result> results,
                                              std::span<const lock_view> views,
                                              std::span<const acquire_terms> wishes, bool all,
                                              microseconds skew) {
  std::vector<decision> made(wishes.size());
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (results[i] == store::edit_result::committed) made[i] = decide_acquire(views[i], wishes[i], skew);
  }
  const auto is_granted = [](const decision& one) { return one.outcome.result == what::granted; };
  auto kept = std::find_if_not(made.begin(), made.end(), is_granted);
  if (all && kept != made.end()) kept = made.begin();
  for (; kept != made.end(); ++kept) {
    // A decision that does not grant its request keeps its changes: they remove the dead and grant to
    // waiters. One that grants its request is dropped whole, because that grant is not wanted without the
    // others.
    if (!is_granted(*kept)) continue;
    *kept = decision{};
    kept->outcome.result = what::absent;
  }
  return made;
}

decision decide_release(const lock_view& view, const release_spec& what_ends, microseconds skew) {
  const auto& [hold, on, ended, may_be_queued, rest, leaving] = what_ends;
  lock_editor lock{view, skew};
  if (on && !stands_on(view, hold, *on)) return lock.unchanged(what::absent);
  const bool has_permit =
      std::any_of(view.permits.begin(), view.permits.end(),
                  [&id = what_ends.hold](const auto& entry) { return entry.permit.hold == id; });
  const bool held = lock.held_by(hold) || has_permit;
  const bool may_be_unread = may_be_queued && !view.queue_complete;
  if (!held && !lock.is_queued(hold) && !may_be_unread) return lock.unchanged(what::absent);
  if (!held && view.row.kind == lock_kind::barrier) {
    lock.break_generation();
    return lock.finish(what::released);
  }
  if (held && lock.is_guarded(hold)) return lock.unchanged(what::guarded);
  const bool was_living = !held || lock.token_of(hold);
  if (held && ended) {
    lock.change().end_leases.push_back(*ended);
    lock.change().durable = true;
  }
  if (held && was_living && rest) {
    if (!has_permit) {
      lock.rest(*rest);
    } else if (lock.permit_of(hold)->lease != rest->id) {  // otherwise an earlier try has moved it
      lock.move_permit(hold, *rest);
    }
    return lock.finish(what::released);
  }
  if (lock.held_by(hold)) lock.clear_holder();
  if (has_permit) lock.remove_permit(hold);
  if (!held) lock.dequeue(hold);
  for (const auto& other : leaving) {
    if (lock.is_queued(other)) lock.dequeue(other);
  }
  if (auto first = lock.must_do_first()) {
    // If all waiters that were read leave, nobody knows yet whether one behind them fits: a sweep looks at those
    // (outcome::more). To decide again would not help, because the view would be the same.
    const bool sweep_looks = first->outcome.result == what::decide_again && !leaving.empty();
    if (!sweep_looks) return std::move(*first);
  }
  // Here nothing may be granted yet. If the lock is free now, the next request grants it to the waiters.
  // While others still hold it, no request would, so this one must be decided again once the server is
  // recorded.
  if (!view.is_recorded_server && lock.has_permits() && lock.has_next())
    return lock.unchanged(what::unrecorded_server);
  lock.grant_everybody_next();
  return lock.finish(was_living ? what::released : what::absent);
}

decision decide_force(const lock_view& view, std::optional<hold_id> only, microseconds skew,
                      model::token upto, bool spares_rests) {
  lock_editor lock{view, skew};
  // Nobody holds a latch or a barrier. The rules of a kind from a later version are not known here.
  if (is_rendezvous(view.row.kind) || view.row.kind == lock_kind::unknown)
    return lock.unchanged(what::mismatch);
  std::vector<lease_id> clients;
  bool found = false;
  bool guarded = false;
  const auto take = [&](hold_id hold, lease_id on, model::token granted,
                        const std::optional<model::lease_view>& lease) {
    if ((only && hold != *only) || granted > upto) return;
    if (spares_rests && model::rests(hold, on)) return;
    found = true;
    guarded = guarded || lock.is_guarded(hold);
    const bool told = !lease || std::find(clients.begin(), clients.end(), lease->client) != clients.end();
    if (!told) clients.push_back(lease->client);
    if (lock.held_by(hold)) {
      lock.clear_holder();
    } else {
      lock.remove_permit(hold);
    }
  };
  if (view.row.hold) take(*view.row.hold, view.row.lease.value_or(lease_id{}), view.row.token, view.holder);
  for (const auto& entry : view.permits) {
    take(entry.permit.hold, entry.permit.lease, entry.permit.token, entry.lease);
  }
  if (!found) return lock.unchanged(what::absent);
  if (guarded) return lock.unchanged(what::guarded);
  if (!view.is_recorded_server) return lock.unchanged(what::unrecorded_server);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.bump_token();
  lock.grant_everybody_next();
  lock.change().notices = std::move(clients);
  lock.change().durable = true;
  return lock.finish(what::released);
}

decision decide_sweep(const lock_view& view, microseconds skew) {
  lock_editor lock{view, skew};
  if (view.row.kind == lock_kind::unknown) return lock.unchanged(what::mismatch);
  if (is_rendezvous(view.row.kind)) return sweep_rendezvous(lock);
  if (auto due = lock.due_holders(); !due.empty()) return lock.kill_first(std::move(due));
  if (lock.is_held_by_living()) return swept(lock, view, what::busy);
  const auto dead = [](const auto& entry) { return !entry.lease; };
  const bool names_dead = view.row.lease || std::any_of(view.permits.begin(), view.permits.end(), dead);
  const bool guarded = view.row.lease
                           ? !view.replaceable
                           : std::any_of(view.permits.begin(), view.permits.end(),
                                         [&](const auto& entry) { return dead(entry) && entry.guarded; });
  const bool all_guarded = guarded && lock.change().remove_permits.empty();
  if (all_guarded) return lock.unchanged(what::guarded);
  if ((names_dead || lock.has_next()) && !view.is_recorded_server)
    return lock.unchanged(what::unrecorded_server);
  lock.remove_dead_holder(view.row.delay);
  if (lock.row().lease) return swept(lock, view, what::busy);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.grant_everybody_next();
  return swept(lock, view, lock.has_permits() && !names_dead ? what::busy : what::released);
}

decision decide_move(const lock_view& view, hold_id hold, const store::lease_record& lease,
                     const std::optional<std::string>& data) {
  lock_editor lock{view, microseconds{0}};
  if (!lock.token_of(hold)) return lock.unchanged(what::absent);
  decision moved = lock.move_onto(hold, lease.id, hold);
  if (moved.change.empty()) return moved;
  moved.change.create_leases.push_back(lease);
  if (data) lock.write_data(moved.change, hold, *data);
  return moved;
}

}  // namespace rowlock::client_layer
