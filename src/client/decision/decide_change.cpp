#include "client/decision/decisions.hpp"

#include "client/decision/lock_editor.hpp"

#include <algorithm>
#include <vector>

namespace rowlock::client_layer {

namespace {

using std::chrono::microseconds;
using store::lock_view;
using what = outcome::what;

// Nothing is changed, so that a call that is repeated after a lost answer has the same outcome (I7). The first try may
// have left waiters to a sweep, which was not sent.
decision unchanged_but_swept(lock_editor& lock, what result) {
  const bool more = lock.has_next();
  auto made = lock.unchanged(result);
  made.outcome.more = more;
  return made;
}

decision done(lock_editor& lock, model::token token) {
  lock.outcome().token = token;
  return unchanged_but_swept(lock, what::granted);
}

}  // namespace

decision decide_downgrade(const lock_view& view, hold_id hold, microseconds skew) {
  lock_editor lock{view, skew};
  const auto token = lock.token_of(hold);
  if (!token) return lock.unchanged(what::absent);
  if (lock.permit_of(hold)) return done(lock, *token);
  if (!view.replaceable) return lock.unchanged(what::guarded);
  lock.outcome().token = *token;
  lock.make_shared();
  if (!view.is_recorded_server && lock.has_next()) return lock.unchanged(what::unrecorded_server);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.grant_everybody_next();
  return lock.finish(what::granted);
}

decision decide_upgrade(const lock_view& view, hold_id hold, microseconds skew) {
  lock_editor lock{view, skew};
  const auto token = lock.token_of(hold);
  if (!token) return lock.unchanged(what::absent);
  if (lock.held_by(hold)) return done(lock, *token);
  if (!view.is_recorded_server) return lock.unchanged(what::unrecorded_server);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.grant_everybody_next();  // to waiters that were blocked only by the dead
  const auto permit = *lock.permit_of(hold);
  const bool alone = lock.row().in_use == permit.weight;
  if (!alone) {
    auto due = lock.due_holders();
    std::erase(due, permit.lease);
    if (!due.empty()) return lock.kill_first(std::move(due));
  }
  // Asked first: a caller that could not be granted the lock anyway does not wait for a guarded transaction.
  if (!alone || lock.has_waiters()) return lock.finish(what::busy);
  if (!view.replaceable) return lock.unchanged(what::guarded);
  lock.make_exclusive(permit);
  lock.outcome().token = lock.row().token;
  return lock.finish(what::granted);
}

decision decide_reduce(const lock_view& view, hold_id hold, std::int64_t weight, microseconds skew) {
  lock_editor lock{view, skew};
  const auto token = lock.token_of(hold);
  const auto* permit = lock.permit_of(hold);
  if (!token || !permit) return lock.unchanged(what::absent);
  if (permit->weight <= weight) return done(lock, *token);
  if (lock.is_guarded(hold)) return lock.unchanged(what::guarded);
  lock.outcome().token = *token;
  lock.reduce(hold, weight);
  if (!view.is_recorded_server && lock.has_next()) return lock.unchanged(what::unrecorded_server);
  if (auto first = lock.must_do_first()) return std::move(*first);
  lock.grant_everybody_next();
  return lock.finish(what::granted);
}

decision decide_raise_token(const lock_view& view, hold_id hold, model::token at_least) {
  lock_editor lock{view, microseconds{0}};
  if (!lock.held_by(hold) || !lock.token_of(hold)) return lock.unchanged(what::absent);
  lock.outcome().token = std::max(view.row.token, at_least);
  if (view.row.token >= at_least) return lock.unchanged(what::granted);
  decision raised = lock.unchanged(what::granted);
  raised.change.row = view.row;
  raised.change.row->token = at_least;
  raised.change.durable = true;
  return raised;
}

decision decide_request(const lock_view& view, const std::string& reason, std::chrono::milliseconds within) {
  lock_editor lock{view, microseconds{0}};
  if (is_rendezvous(view.row.kind) || view.row.kind == model::lock_kind::unknown)
    return lock.unchanged(what::absent);
  std::vector<lease_id> clients;
  const auto ask = [&](hold_id hold, const std::optional<model::lease_view>& lease) {
    if (!lease) return;
    lock.outcome().asked.push_back(hold);
    if (std::find(clients.begin(), clients.end(), lease->client) == clients.end())
      clients.push_back(lease->client);
  };
  if (view.row.hold && !view.row.hold->is_nil()) ask(*view.row.hold, view.holder);
  for (const auto& entry : view.permits) {
    if (!model::rests(entry.permit.hold, entry.permit.lease)) ask(entry.permit.hold, entry.lease);
  }
  if (clients.empty()) return lock.unchanged(what::absent);
  lock.outcome().token = view.row.token;
  decision made = lock.unchanged(what::released);
  made.change.row = view.row;
  made.change.request = store::release_request{view.row.token, within, reason};
  made.change.notices = std::move(clients);
  made.change.durable = true;
  return made;
}

decision decide_set_data(const lock_view& view, hold_id hold, const std::string& text) {
  lock_editor lock{view, microseconds{0}};
  const auto* permit = lock.permit_of(hold);
  if (!lock.token_of(hold) || (permit && model::rests(hold, permit->lease)))
    return lock.unchanged(what::absent);
  // The guard of a permit has locked the permit, and the statement that writes the permit would wait. The
  // guard of an exclusive hold has locked the lock's row: if the edit could lock that row all the same, it
  // may also write it.
  if (permit && lock.is_guarded(hold)) return lock.unchanged(what::guarded);
  return lock.with_data(hold, text);
}

decision decide_resize(const lock_view& view, std::int64_t capacity, microseconds skew) {
  lock_editor lock{view, skew};
  if (view.row.kind != model::lock_kind::semaphore) {
    lock.outcome().stored = definition_of(view.row);
    return lock.unchanged(what::mismatch);
  }
  lock.outcome().stored = definition_of(view.row);
  lock.outcome().stored.capacity = capacity;
  if (view.row.capacity == capacity) return unchanged_but_swept(lock, what::released);
  lock.resize(capacity);
  if (!view.is_recorded_server && lock.has_next()) return lock.unchanged(what::unrecorded_server);
  // If only unread rows tell which waiter is next, the sweep that follows finds out. By then the waiters that
  // want too much have left the queue.
  if (auto first = lock.must_do_first(); first && first->outcome.result == what::expired)
    return std::move(*first);
  lock.grant_everybody_next();
  lock.change().durable = true;
  return lock.finish(what::released);
}

decision decide_resize_by(const lock_view& view, std::int64_t difference, microseconds skew) {
  const auto stored = view.row.capacity;
  if (view.row.kind != model::lock_kind::semaphore) return decide_resize(view, stored, skew);
  if (difference >= 1 - stored && difference <= model::highest_capacity - stored) {
    return decide_resize(view, stored + difference, skew);
  }
  lock_editor lock{view, skew};
  lock.outcome().remaining = stored;
  return lock.unchanged(what::overrun);
}

}  // namespace rowlock::client_layer
