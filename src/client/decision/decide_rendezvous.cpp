#include "client/decision/decide_rendezvous.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

using model::lock_kind;
using std::chrono::microseconds;
using store::lock_view;
using what = outcome::what;

// No death changes what a waiter of a latch waits for. From the queue, the lease keeper learns when the lease
// of a barrier's member may be killed (waiter_poll::due_in).
constexpr microseconds nobody_stands_in_the_way = std::chrono::hours{1};

bool is_open(const lock_editor& latch) {
  return latch.row().in_use >= latch.row().capacity;
}

decision queue_up(lock_editor& lock, const acquire_terms& wish) {
  lock.outcome().takeover_in = nobody_stands_in_the_way;
  if (!lock.is_queued(wish.hold)) lock.enqueue({0, wish.hold, wish.lease, 1, model::lock_mode::shared});
  return lock.finish(what::queued);
}

decision wait_at_latch(lock_editor& latch, const acquire_terms& wish) {
  if (!is_open(latch)) {
    return wish.wait || latch.is_queued(wish.hold) ? queue_up(latch, wish) : latch.finish(what::busy);
  }
  latch.outcome().token = latch.row().token;
  if (latch.is_queued(wish.hold)) {
    // The client that opened the latch sends the rest of a long queue on. It may have been killed before it did.
    latch.release_waiters();
    latch.dequeue(wish.hold);
    std::erase_if(latch.outcome().next, [&](const auto& one) { return one.waiter.hold == wish.hold; });
  }
  return latch.finish(what::granted);
}

// A generation ends in one of two ways, each in one decision: complete, which leaves each member a permit, or
// broken, which leaves nothing. So a member that is no longer queued knows which.
decision arrive_at_barrier(lock_editor& barrier, const lock_view& view, const acquire_terms& wish) {
  const auto mine = [&](const auto& entry) { return entry.permit.hold == wish.hold; };
  if (const auto permit = std::find_if(view.permits.begin(), view.permits.end(), mine);
      permit != view.permits.end()) {
    barrier.outcome().token = permit->permit.token;
    return barrier.unchanged(what::granted);
  }
  const bool queued = barrier.is_queued(wish.hold);
  if (wish.arrived && !queued) return barrier.finish(what::broken);
  const bool is_last = static_cast<std::int64_t>(barrier.waiting()) + 1 >= barrier.row().capacity;
  if (wish.leaving && (queued || !is_last)) {
    // The generation breaks even if this member's arrival has not been written: else the others would wait in
    // vain.
    barrier.break_generation();
    return barrier.finish(what::busy);
  }
  if (auto due = barrier.due_waiters(); !due.empty()) return barrier.kill_first(std::move(due));
  if (queued || !is_last) {
    barrier.change().durable = true;  // if a crash lost the arrival, only this member would notice
    return queue_up(barrier, wish);
  }
  if (!view.is_recorded_server) return barrier.unchanged(what::unrecorded_server);
  barrier.complete({0, wish.hold, wish.lease});
  barrier.outcome().token = barrier.row().token;
  return barrier.finish(what::granted);
}

// Whether an earlier try, which would have given its permit the token `tried`, was certainly not executed.
// Returns false if the try may have counted before a reset removed all permits. Requires: the try's permit is
// missing. Each of these proves that the try did not count: the row's token is lower, so nobody has got
// `tried` yet; somebody else's permit has `tried`; a permit has a lower token, so it was there before the
// try, and the latch has not been reset since.
bool has_not_counted(const lock_view& latch, model::token tried) {
  if (latch.row.token < tried) return true;
  return std::ranges::any_of(latch.permits,
                             [tried](const auto& entry) { return entry.permit.token <= tried; });
}

}  // namespace

decision decide_rendezvous(lock_editor& lock, const lock_view& view, const acquire_terms& wish) {
  if (view.row.kind == lock_kind::latch) return wait_at_latch(lock, wish);
  return arrive_at_barrier(lock, view, wish);
}

decision sweep_rendezvous(lock_editor& lock) {
  if (lock.row().kind == lock_kind::latch) {
    if (is_open(lock)) lock.release_waiters();
    return lock.finish(what::released);
  }
  if (auto due = lock.due_waiters(); !due.empty()) return lock.kill_first(std::move(due));
  return lock.finish(what::released);
}

decision decide_count_down(const lock_view& view, const model::lock_definition& definition, hold_id hold,
                           std::int64_t n, model::token tried) {
  lock_editor latch{view, microseconds{0}};
  if (auto other = latch.refuse_other(definition)) return std::move(*other);
  latch.outcome().remaining = latch.row().capacity - latch.row().in_use;
  if (latch.permit_of(hold)) return latch.unchanged(what::granted);
  if (tried != 0 && !has_not_counted(view, tried)) return latch.unchanged(what::in_doubt);
  if (n > latch.outcome().remaining) return latch.unchanged(what::overrun);
  if (!view.is_recorded_server) return latch.unchanged(what::unrecorded_server);
  latch.count_down(hold, n);
  latch.outcome().remaining -= n;
  if (is_open(latch)) latch.release_waiters();
  return latch.finish(what::granted);
}

decision decide_reset(const lock_view& view, const model::lock_definition& definition) {
  lock_editor latch{view, microseconds{0}};
  if (auto other = latch.refuse_other(definition)) return std::move(*other);
  // All waiters that the open latch has left in the queue continue, even if there are too many for one
  // decision.
  if (is_open(latch)) latch.release_waiters();
  if (latch.outcome().more) return latch.finish(what::decide_again);
  latch.remove_all_permits();
  latch.change().durable = true;
  return latch.finish(what::released);
}

}  // namespace rowlock::client_layer
