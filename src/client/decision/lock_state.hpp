// What a decision knows of a lock: what was read under its row, without the dead, and with the decision's
// changes so far. It says who holds the lock, who waits, and who comes next; lock_editor makes the changes.
#pragma once

#include "client/decision/outcome.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace rowlock::client_layer {

class lock_state {
 public:
  const model::lock_row& row() const { return row_; }

  // -- who holds --
  bool held_by(hold_id hold) const { return row_.hold == hold; }  // exclusively
  bool is_held_by_living() const { return row_.lease && holder_; }
  const model::permit* permit_of(hold_id hold) const;
  // Empty: there is no such hold, or its lease is gone.
  std::optional<model::token> token_of(hold_id hold) const;
  // Requires: token_of(hold) is not empty.
  const model::lease_view& lease_of(hold_id hold) const;
  // Whether a guarded transaction may rely on that hold, which must then stay on its lease.
  bool is_guarded(hold_id hold) const;
  bool has_permits() const { return !permits_.empty() || view_.unread_weight > 0; }
  // Whether kill() has to delete or to shorten the lease.
  bool is_due(const model::lease_view& lease) const {
    return lease.expires_in + skew_ <= std::chrono::microseconds{0} || lease.expires_in > lease.ttl + skew_;
  }
  std::vector<lease_id> due_holders() const;
  // The time until the first lease that is in the way may be killed: a holder's, or, without an exclusive
  // holder, that of the first waiter, for whom the others may be waiting.
  std::chrono::microseconds takeover_in() const;

  // -- who waits --
  bool has_waiters() const { return !living_.empty() || !view_.queue_complete; }
  bool fits(model::lock_mode mode, std::int64_t weight) const { return fits(mode, weight, row_.in_use); }
  // Whether a waiter may be granted now, as far as is known.
  bool has_next() const;
  std::size_t waiting() const { return living_.size(); }  // of the part that was read
  std::vector<lease_id> due_waiters() const;

 protected:
  struct next_grants {
    std::vector<lease_id> due;  // of waiters that would be granted, or stand in the way of others
    bool unknown = false;       // only unread rows tell which waiter is first
  };
  struct removed_dead {
    std::vector<hold_id> permits, waiters;
  };

  // Keeps a reference to the view. The dead are still there, until remove_dead().
  lock_state(const store::lock_view& view, std::chrono::microseconds skew);

  // Removes waiters and permits of the dead, except permits that a guarded transaction keeps, and waiters
  // that can never fit. Returns what it has removed. A latch keeps all its permits.
  removed_dead remove_dead();
  template <class Id>
  static bool contains(const std::vector<Id>& ids, const Id& id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }
  bool fits(model::lock_mode mode, std::int64_t weight, std::int64_t in_use) const;
  bool can_ever_fit(const model::waiter& waiter) const;
  next_grants find_next_grants() const;
  void recount();  // after each change of a holder

  const store::lock_view& view_;
  const std::chrono::microseconds skew_;
  model::lock_row row_;
  std::optional<model::lease_view> holder_;
  std::vector<store::permit_view> permits_;
  std::vector<store::waiter_view> living_;
};

}  // namespace rowlock::client_layer
