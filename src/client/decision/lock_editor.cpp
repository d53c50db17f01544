#include "client/decision/lock_editor.hpp"

#include "client/decision/hold_data.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

using model::lock_mode;
using std::chrono::microseconds;

lock_editor::lock_editor(const store::lock_view& view, microseconds skew) : lock_state(view, skew) {
  auto dead = remove_dead();
  made_.change.remove_permits = std::move(dead.permits);
  made_.change.dequeue = std::move(dead.waiters);
  if (row_.kind == model::lock_kind::barrier && !made_.change.dequeue.empty()) break_generation();
}

bool lock_editor::is_queued(hold_id hold) const {
  return (view_.own && view_.own->hold == hold && !removed(hold)) ||
         std::any_of(living_.begin(), living_.end(),
                     [&](const auto& entry) { return entry.waiter.hold == hold; });
}

bool lock_editor::removed(hold_id hold) const {
  return contains(made_.change.dequeue, hold);
}

// ---- changes ----

void lock_editor::clear_holder() {
  row_.lease.reset();
  row_.hold.reset();
  holder_.reset();
  recount();
}

void lock_editor::remove_dead_holder(std::chrono::milliseconds delay) {
  if (!row_.lease) return;
  const auto dead = *row_.hold;
  if (dead.is_nil() || delay <= std::chrono::milliseconds{0}) return clear_holder();
  // The lease's id contains the token, because the same hold may be lost again after another grant, and no
  // lease comes back (I3).
  const auto id = lease_id::belonging_to(dead, row_.token);
  rest({id, id, {}, 0, "rests after a loss", delay});
}

void lock_editor::rest(const store::lease_record& lease) {
  row_.lease = lease.id;
  row_.hold = hold_id{};
  holder_ = model::lease_view{lease.id, lease.client, lease.ttl, lease.ttl};
  made_.change.create_leases.push_back(lease);
  made_.change.durable = true;
  recount();
}

void lock_editor::add_permit(const model::permit& permit, const std::optional<model::lease_view>& lease) {
  made_.change.add_permits.push_back(permit);
  permits_.push_back({permit, lease});
}

void lock_editor::move_permit(hold_id hold, const store::lease_record& lease) {
  auto moved = *permit_of(hold);
  moved.lease = lease.id;
  remove_permit(hold);
  add_permit(moved, model::lease_view{lease.id, lease.client, lease.ttl, lease.ttl});
  recount();
  made_.change.create_leases.push_back(lease);
  made_.change.durable = true;
}

void lock_editor::reduce(hold_id hold, std::int64_t weight) {
  auto reduced = *permit_of(hold);
  const auto lease = lease_of(hold);
  reduced.weight = weight;
  remove_permit(hold);
  add_permit(reduced, lease);
  recount();
  made_.change.durable = true;
}

void lock_editor::remove_permit(hold_id hold) {
  std::erase_if(permits_, [&](const auto& entry) { return entry.permit.hold == hold; });
  if (!contains(made_.change.remove_permits, hold)) made_.change.remove_permits.push_back(hold);
  recount();
}

void lock_editor::remove_all_permits() {
  for (const auto& entry : permits_) made_.change.remove_permits.push_back(entry.permit.hold);
  permits_.clear();
  recount();
}

void lock_editor::resize(std::int64_t capacity) {
  row_.capacity = capacity;
  for (const auto& entry : view_.queue) {
    if (!can_ever_fit(entry.waiter)) dequeue(entry.waiter.hold);
  }
}

void lock_editor::grant(const model::waiter& wanted, const std::optional<model::lease_view>& lease) {
  if (is_queued(wanted.hold)) dequeue(wanted.hold);
  bump_token();
  if (wanted.mode == lock_mode::exclusive) {
    row_.lease = wanted.lease;
    row_.hold = wanted.hold;
    holder_ = lease;
  } else {
    add_permit({wanted.hold, wanted.lease, wanted.weight, row_.token}, lease);
  }
  recount();
  made_.change.granted_now = true;
  made_.change.durable = true;
}

void lock_editor::grant_everybody_next() {
  if (!view_.is_recorded_server) return;
  while (!living_.empty() && has_next()) {
    const auto next = living_.front();
    grant(next.waiter, next.lease);
    made_.outcome.next.push_back({next.waiter, next.lease->client, row_.token});
  }
  made_.outcome.more = living_.empty() && !row_.lease && has_next();
}

void lock_editor::enqueue(const model::waiter& wanted) {
  made_.change.enqueue.push_back(wanted);
  made_.change.enqueue.back().ticket = row_.next_ticket++;
}

void lock_editor::dequeue(hold_id hold) {
  if (!removed(hold)) made_.change.dequeue.push_back(hold);
  std::erase_if(living_, [&](const auto& entry) { return entry.waiter.hold == hold; });
}

void lock_editor::count_down(hold_id hold, std::int64_t n) {
  bump_token();
  add_permit({hold, {}, n, row_.token}, {});
  recount();
  made_.change.granted_now = true;
  made_.change.durable = true;
}

void lock_editor::release_waiters() {
  for (const auto& [waiter, lease] : living_) {
    made_.outcome.next.push_back({waiter, lease->client, row_.token});
    made_.change.dequeue.push_back(waiter.hold);
  }
  living_.clear();
  made_.outcome.more = !view_.queue_complete;
}

// Each member finds its permit, which proves that the generation is complete, and then releases it.
void lock_editor::complete(const model::waiter& last) {
  bump_token();
  const auto pass = [&](const model::waiter& member) {
    made_.change.add_permits.push_back({member.hold, member.lease, 0, row_.token});
  };
  for (const auto& [waiter, lease] : living_) pass(waiter);
  pass(last);
  release_waiters();
  made_.change.granted_now = true;
  made_.change.durable = true;
}

// Durable, because a place that came back after a crash would be taken for a member that has arrived.
void lock_editor::break_generation() {
  for (const auto& [waiter, lease] : living_) {
    if (!contains(made_.outcome.wake, lease->client)) made_.outcome.wake.push_back(lease->client);
    made_.change.dequeue.push_back(waiter.hold);
  }
  living_.clear();
  made_.change.durable = true;
}

void lock_editor::make_shared() {
  const auto hold = *row_.hold;
  const auto data = said_under(row_.token, view_.data);
  add_permit({hold, *row_.lease, 1, row_.token}, holder_);
  clear_holder();
  if (!data.empty()) write_data(made_.change, hold, data);
  made_.change.durable = true;
}

void lock_editor::make_exclusive(const model::permit& permit) {
  const auto lease = lease_of(permit.hold);
  const model::waiter wanted{0, permit.hold, permit.lease, row_.capacity, lock_mode::exclusive};
  remove_permit(wanted.hold);
  grant(wanted, lease);
  if (view_.data) write_data(made_.change, wanted.hold, *view_.data);
}

// An exclusive hold's text is stored with the token, which may be a new one, so the text is written anew.
void lock_editor::write_data(store::lock_change& change, hold_id hold, const std::string& text) const {
  if (held_by(hold)) {
    change.value = with_token(row_.token, text);
  } else {
    change.data.push_back({hold, text});
  }
}

// ---- results ----

// The smallest ticket in the queue once this change is written, as far as is known.
std::int64_t lock_editor::head_ticket() const {
  for (const auto& entry : view_.queue) {
    if (!removed(entry.waiter.hold)) return entry.waiter.ticket;
  }
  if (!view_.queue_complete) return view_.queue.empty() ? 0 : view_.queue.back().waiter.ticket + 1;
  return made_.change.enqueue.empty() ? row_.next_ticket : made_.change.enqueue.front().ticket;
}

decision lock_editor::finish(outcome::what result) {
  auto& change = made_.change;
  made_.outcome.result = result;
  row_.has_queue = has_waiters() || !change.enqueue.empty();
  const bool others = !change.enqueue.empty() || !change.dequeue.empty() || !change.remove_permits.empty() ||
                      !change.add_permits.empty();
  const bool changed = row_ != view_.row;
  // If nothing but the head has changed, the row is not written.
  row_.head_ticket = std::max(row_.head_ticket, head_ticket());
  // If other tables change, the row is written too, because Galera compares only what is written.
  if (others || changed) change.row = row_;
  return std::move(made_);
}

std::optional<decision> lock_editor::refuse_other(const model::lock_definition& asked) {
  if (is_same_lock(asked, definition_of(row_))) return {};
  made_.outcome.stored = definition_of(row_);
  return unchanged(outcome::what::mismatch);
}

decision lock_editor::unchanged(outcome::what result) {
  made_.change = {};
  made_.outcome.next.clear();
  made_.outcome.wake.clear();
  made_.outcome.more = false;
  made_.outcome.result = result;
  return std::move(made_);
}

void lock_editor::report_hold(hold_id hold) {
  const auto* permit = permit_of(hold);
  made_.outcome.token = *token_of(hold);
  made_.outcome.weight = permit ? permit->weight : row_.capacity;
  made_.outcome.mode = permit ? lock_mode::shared : lock_mode::exclusive;
  made_.outcome.stored = definition_of(row_);
}

decision lock_editor::move_onto(hold_id hold, lease_id onto, hold_id as) {
  std::optional<model::permit> moving;
  if (const auto* permit = permit_of(hold)) moving = *permit;
  report_hold(hold);
  const bool stands_there = (moving ? moving->lease : *view_.row.lease) == onto;
  // A guarded transaction has locked the row that says on which lease the hold stands.
  if (!stands_there && is_guarded(hold)) return unchanged(outcome::what::guarded);
  decision moved = unchanged(outcome::what::granted);
  if (stands_there) return moved;
  moved.change.row = view_.row;
  if (moving) {
    moving->lease = onto;
    moving->hold = as;
    moved.change.remove_permits.push_back(hold);
    moved.change.add_permits.push_back(*moving);
    // The row of a permit that keeps its id is updated, and so keeps its text.
    if (as != hold && view_.data) write_data(moved.change, as, *view_.data);
  } else {
    moved.change.row->lease = onto;
    moved.change.row->hold = as;
  }
  moved.change.durable = true;
  return moved;
}

decision lock_editor::with_data(hold_id hold, const std::string& text) {
  report_hold(hold);
  decision made = unchanged(outcome::what::granted);
  write_data(made.change, hold, text);
  made.change.durable = true;
  return made;
}

// The clock of a server that is not the recorded one may be ahead. It may judge no lease until all leases are
// lengthened for it (I5).
decision lock_editor::kill_first(std::vector<lease_id> leases) {
  if (!view_.is_recorded_server) return unchanged(outcome::what::unrecorded_server);
  made_.outcome.leases = std::move(leases);
  return unchanged(outcome::what::expired);
}

std::optional<decision> lock_editor::must_do_first() {
  auto ahead = find_next_grants();
  if (ahead.unknown) return lock_editor{view_, skew_}.finish(outcome::what::decide_again);
  if (!ahead.due.empty()) return kill_first(std::move(ahead.due));
  return {};
}

}  // namespace rowlock::client_layer
