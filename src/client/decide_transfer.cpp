#include "client/decisions.hpp"

#include "client/draft.hpp"

namespace rowlock::client_layer {

namespace {

using std::chrono::microseconds;
using store::lock_view;
using what = outcome::what;

// The lease that a hold stands on. Requires: it stands.
lease_id lease_under(const draft& lock, hold_id hold) {
  const auto* permit = lock.permit_of(hold);
  return permit ? permit->lease : *lock.row().lease;
}

void tell_what_it_is(draft& lock, hold_id hold) {
  const auto* permit = lock.permit_of(hold);
  lock.outcome().token = *lock.token_of(hold);
  lock.outcome().weight = permit ? permit->weight : lock.row().capacity;
  lock.outcome().mode = permit ? model::lock_mode::shared : model::lock_mode::exclusive;
}

}  // namespace

decision decide_adopt(const lock_view& view, hold_id hold, lease_id from, lease_id onto) {
  draft lock{view, microseconds{0}};
  if (gathers(view.row.kind) || !lock.token_of(hold)) return lock.leave(what::absent);
  const auto stands_on = lease_under(lock, hold);
  if (stands_on != from && stands_on != onto) return lock.leave(what::absent);
  decision adopted = lock.move_onto(hold, onto);
  if (!adopted.change.empty()) adopted.change.end_leases.push_back(from);
  return adopted;
}

decision decide_reclaim(const lock_view& view, hold_id old, lease_id from, const model::waiter& mine) {
  draft lock{view, microseconds{0}};
  if (gathers(view.row.kind)) return lock.leave(what::absent);
  if (lock.token_of(mine.hold)) {
    tell_what_it_is(lock, mine.hold);
    return lock.leave(what::granted);
  }
  if (!lock.token_of(old) || lease_under(lock, old) != from) return lock.leave(what::absent);
  if (!view.replaceable) return lock.leave(what::guarded);
  if (!view.same_world) return lock.leave(what::foreign);
  auto successor = mine;
  auto client = view.holder ? view.holder->client : from;
  if (const auto* permit = lock.permit_of(old)) {
    successor.mode = model::lock_mode::shared;
    successor.weight = permit->weight;
    client = from;
    lock.remove_permit(old);
  } else {
    successor.mode = model::lock_mode::exclusive;
    lock.clear_holder();
  }
  lock.grant(successor, {});
  const auto* permit = lock.permit_of(mine.hold);
  lock.outcome().token = lock.row().token;
  lock.outcome().weight = permit ? permit->weight : view.row.capacity;
  lock.outcome().mode = successor.mode;
  lock.change().notices.push_back(client);
  return lock.finish(what::granted);
}

}  // namespace rowlock::client_layer
