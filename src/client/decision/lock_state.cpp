#include "client/decision/lock_state.hpp"

namespace rowlock::client_layer {

using model::lock_mode;
using std::chrono::microseconds;

lock_state::lock_state(const store::lock_view& view, microseconds skew)
    : view_(view), skew_(skew), row_(view.row), holder_(view.holder) {}

// A guarded transaction may rely on a dead hold. That hold stays, and counts, until the transaction ends.
lock_state::removed_dead lock_state::remove_dead() {
  removed_dead dead;
  const bool permits_stay = row_.kind == model::lock_kind::latch;
  for (const auto& entry : view_.permits) {
    if (entry.lease || entry.guarded || permits_stay) {
      permits_.push_back(entry);
    } else {
      dead.permits.push_back(entry.permit.hold);
    }
  }
  for (const auto& entry : view_.queue) {
    if (entry.lease && can_ever_fit(entry.waiter)) {
      living_.push_back(entry);
    } else {
      dead.waiters.push_back(entry.waiter.hold);
    }
  }
  recount();
  return dead;
}

void lock_state::recount() {
  row_.in_use = view_.unread_weight;
  for (const auto& entry : permits_) row_.in_use += entry.permit.weight;
  if (row_.lease) row_.in_use = row_.capacity;
}

// ---- who holds ----

const model::permit* lock_state::permit_of(hold_id hold) const {
  for (const auto& entry : permits_) {
    if (entry.permit.hold == hold) return &entry.permit;
  }
  return nullptr;
}

std::optional<model::token> lock_state::token_of(hold_id hold) const {
  if (held_by(hold)) return holder_ ? std::optional{row_.token} : std::nullopt;
  for (const auto& entry : permits_) {
    if (entry.permit.hold == hold && entry.lease) return entry.permit.token;
  }
  return {};
}

const model::lease_view& lock_state::lease_of(hold_id hold) const {
  if (held_by(hold)) return *holder_;
  return *std::find_if(permits_.begin(), permits_.end(), [&](const auto& entry) {
            return entry.permit.hold == hold;
          })->lease;
}

bool lock_state::is_guarded(hold_id hold) const {
  for (const auto& entry : view_.permits) {
    if (entry.permit.hold == hold) return entry.guarded;
  }
  return !view_.replaceable;
}

std::vector<lease_id> lock_state::due_holders() const {
  std::vector<lease_id> due;
  if (holder_ && is_due(*holder_)) due.push_back(holder_->id);
  for (const auto& entry : permits_) {
    if (entry.lease && is_due(*entry.lease) && !contains(due, entry.lease->id))
      due.push_back(entry.lease->id);
  }
  return due;
}

microseconds lock_state::takeover_in() const {
  std::optional<microseconds> first;
  const auto consider = [&](const std::optional<model::lease_view>& lease) {
    const auto due = lease ? lease->expires_in : microseconds{0};
    if (!first || due < *first) first = due;
  };
  if (row_.lease) consider(holder_);
  for (const auto& entry : permits_) consider(entry.lease);
  if (const auto unread = view_.unread_takeover_in) first = std::min(*unread, first.value_or(*unread));
  if (!row_.lease && !living_.empty()) consider(living_.front().lease);
  return first.value_or(microseconds{0});
}

// ---- who waits ----

// A guarded transaction may have locked the row of a free lock. Then permits may be added, but no exclusive
// holder.
bool lock_state::fits(lock_mode mode, std::int64_t weight, std::int64_t in_use) const {
  if (row_.lease) return false;
  if (mode == lock_mode::exclusive) return in_use == 0 && view_.replaceable;
  return in_use + weight <= row_.capacity;
}

// A waiter that wants more than a lowered capacity would stop all others for ever.
bool lock_state::can_ever_fit(const model::waiter& waiter) const {
  return waiter.mode == lock_mode::exclusive || waiter.weight <= row_.capacity;
}

lock_state::next_grants lock_state::find_next_grants() const {
  next_grants ahead;
  auto in_use = row_.in_use;
  if (row_.lease || in_use >= row_.capacity || is_rendezvous(row_.kind)) return ahead;
  ahead.unknown = living_.empty() && !view_.queue_complete;
  for (const auto& [waiter, lease] : living_) {
    if (in_use >= row_.capacity) break;
    if (is_due(*lease)) {
      ahead.due.push_back(lease->id);
      continue;
    }
    if (!fits(waiter.mode, waiter.weight, in_use)) break;
    in_use = waiter.mode == lock_mode::exclusive ? row_.capacity : in_use + waiter.weight;
  }
  return ahead;
}

bool lock_state::has_next() const {
  if (is_rendezvous(row_.kind)) return false;
  if (living_.empty()) return !view_.queue_complete && row_.in_use < row_.capacity;
  const auto& head = living_.front().waiter;
  return fits(head.mode, head.weight);
}

std::vector<lease_id> lock_state::due_waiters() const {
  std::vector<lease_id> due;
  for (const auto& entry : living_) {
    if (is_due(*entry.lease) && !contains(due, entry.lease->id)) due.push_back(entry.lease->id);
  }
  return due;
}

}  // namespace rowlock::client_layer
