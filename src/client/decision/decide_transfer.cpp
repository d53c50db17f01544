#include "client/decision/decisions.hpp"

#include "client/decision/lock_editor.hpp"

namespace rowlock::client_layer {

namespace {

using std::chrono::microseconds;
using store::lock_view;
using what = outcome::what;

}  // namespace

decision decide_adopt(const lock_view& view, hold_id old, lease_id from, const model::waiter& mine) {
  lock_editor lock{view, microseconds{0}};
  if (is_rendezvous(view.row.kind)) return lock.unchanged(what::absent);
  if (lock.token_of(mine.hold)) {  // repeated after a lost answer
    lock.report_hold(mine.hold);
    return lock.unchanged(what::granted);
  }
  if (!lock.token_of(old) || lock.lease_of(old).id != from) return lock.unchanged(what::absent);
  decision adopted = lock.move_onto(old, mine.lease, mine.hold);
  if (!adopted.change.empty()) adopted.change.end_leases.push_back(from);
  return adopted;
}

decision decide_reclaim(const lock_view& view, hold_id old, lease_id from, const model::waiter& mine) {
  lock_editor lock{view, microseconds{0}};
  if (is_rendezvous(view.row.kind)) return lock.unchanged(what::absent);
  if (lock.token_of(mine.hold)) {
    lock.report_hold(mine.hold);
    return lock.unchanged(what::granted);
  }
  if (!lock.token_of(old) || lock.lease_of(old).id != from) return lock.unchanged(what::absent);
  if (!view.replaceable) return lock.unchanged(what::guarded);
  if (!view.is_recorded_server) return lock.unchanged(what::unrecorded_server);
  auto successor = mine;
  const auto client = lock.lease_of(old).client;
  if (const auto* permit = lock.permit_of(old)) {
    successor.mode = model::lock_mode::shared;
    successor.weight = permit->weight;
    lock.remove_permit(old);
  } else {
    successor.mode = model::lock_mode::exclusive;
    lock.clear_holder();
  }
  // The view does not show the lease of the client that reclaims. The lease counts as alive here; that client
  // checks it by its own clock before it believes the grant (I5).
  lock.grant(successor, model::lease_view{mine.lease, mine.lease});
  lock.report_hold(mine.hold);
  lock.change().notices.push_back(client);
  return lock.finish(what::granted);
}

}  // namespace rowlock::client_layer
