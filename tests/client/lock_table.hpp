// One lock and the leases of its parties, in the form in which a store keeps them, for sequences of decisions.
#pragma once

#include "client/lock_views.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace rowlock::test {

struct wanting : party {
  model::lock_mode mode = model::lock_mode::shared;
  std::int64_t weight = 1;
};

// Checks I1 and I2 after every change.
class lock_table {
 public:
  lock_table(model::lock_kind kind, std::int64_t capacity, std::size_t window) : window_{window} {
    row_.name = "a";
    row_.kind = kind;
    row_.capacity = capacity;
  }

  store::lock_view view(const hold_id& about) const { return view(store::edit_request{"a", about, {}}); }
  store::lock_view view(const store::edit_request& asked) const {
    store::lock_view read;
    const auto& about = asked.about;
    const auto& known = asked.permits_of;
    read.row = row_;
    if (row_.lease) read.holder = lease(*row_.lease);
    for (const auto& [hold, permit] : permits_) {
      if (!known || std::find(known->begin(), known->end(), hold) != known->end()) {
        read.permits.push_back({permit, lease(permit.lease)});
      } else {
        read.unread_weight += permit.weight;
      }
    }
    if (store::needs_sum(asked, row_)) read.unread_takeover_in = first_takeover();
    for (const auto& [ticket, waiter] : queue_) {
      if (waiter.hold == about) read.own = waiter;
      if (read.queue.size() < window_) read.queue.push_back({waiter, lease(waiter.lease)});
    }
    read.queue_complete = queue_.size() <= window_;
    return read;
  }

  void apply(const store::lock_change& change) {
    const auto before = row_;
    if (change.row) row_ = *change.row;
    for (const auto& gone : change.remove_permits) permits_.erase(gone);
    for (const auto& permit : change.add_permits) {
      ASSERT_TRUE(permits_.emplace(permit.hold, permit).second);
      if (permit.token != before.token) note_grant(permit.token);
    }
    for (const auto& gone : change.dequeue)
      std::erase_if(queue_, [&](const auto& entry) { return entry.second.hold == gone; });
    for (const auto& waiter : change.enqueue) queue_.emplace(waiter.ticket, waiter);
    if (row_.hold && row_.hold != before.hold) note_grant(row_.token);
    ASSERT_GE(row_.token, last_grant_) << "I2";
    std::int64_t used = row_.hold ? row_.capacity : 0;
    for (const auto& [hold, permit] : permits_) used += permit.weight;
    ASSERT_LE(used, row_.capacity) << "I1";
    ASSERT_EQ(row_.in_use, used);
    // has_queue may be true for an empty queue: the last waiter may have left when it stood beyond the part that was
    // read.
    ASSERT_TRUE(row_.has_queue || queue_.empty());
  }

  void live(const party& who) { leases_[who.lease] = 30s; }
  void expire(const party& who) {
    if (leases_.contains(who.lease)) leases_[who.lease] = -1s;
  }
  void kill(const lease_id& id) { leases_.erase(id); }
  // A party whose lease has expired makes no more requests.
  bool lives(const party& who) const {
    const auto found = leases_.find(who.lease);
    return found != leases_.end() && found->second > 0s;
  }
  bool holds(const party& who) const { return row_.hold == who.hold || permits_.contains(who.hold); }
  bool reads(const party& who) const { return permits_.contains(who.hold); }
  bool queued(const party& who) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const auto& entry) { return entry.second.hold == who.hold; });
  }
  // The waiters whose leases exist, in ticket order.
  std::vector<hold_id> living() const {
    std::vector<hold_id> holds;
    for (const auto& [ticket, waiter] : queue_) {
      if (leases_.contains(waiter.lease)) holds.push_back(waiter.hold);
    }
    return holds;
  }
  // Whether the first living waiter could be granted beside all holds, dead or alive.
  bool head_fits() const {
    for (const auto& [ticket, waiter] : queue_) {
      if (!leases_.contains(waiter.lease)) continue;
      if (waiter.mode == model::lock_mode::exclusive) return row_.in_use == 0;
      return !row_.hold && row_.in_use + waiter.weight <= row_.capacity;
    }
    return false;
  }
  bool is_waited_for() const { return !queue_.empty(); }  // also by dead waiters
  bool exists(const lease_id& id) const { return leases_.contains(id); }
  const model::lock_row& row() const { return row_; }

 private:
  std::chrono::microseconds first_takeover() const {
    auto first = std::chrono::microseconds::max();
    for (const auto& [hold, permit] : permits_) {
      const auto held = lease(permit.lease);
      first = std::min(first, held ? held->expires_in : 0us);
    }
    return permits_.empty() ? 0us : first;
  }
  void note_grant(model::token token) {
    ASSERT_GT(token, last_grant_) << "I2";
    last_grant_ = token;
  }
  std::optional<model::lease_view> lease(const lease_id& id) const {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return {};
    return model::lease_view{id, id, found->second, std::chrono::hours{24}};
  }

  std::size_t window_;
  model::lock_row row_;
  std::map<hold_id, model::permit> permits_;
  std::map<std::int64_t, model::waiter> queue_;
  std::map<lease_id, std::chrono::microseconds> leases_;
  model::token last_grant_ = 0;
};

}  // namespace rowlock::test
