// A lock while a decision about it is made: what was read, what the decision has changed, and who comes next.
//
// I1, I2 and I9 are enforced here: only grant() makes a holder, it takes the next token, and among the
// waiters the first living one always comes first.
#pragma once

#include "client/decisions.hpp"

#include <optional>
#include <vector>

namespace rowlock::client_layer {

class lock_editor {
 public:
  // Drops waiters and permits of the dead, except permits that a guarded transaction keeps. A latch keeps all
  // its permits. A barrier that has lost a member is broken.
  lock_editor(const store::lock_view& view, std::chrono::microseconds skew);

  const model::lock_row& row() const { return row_; }

  // -- who holds --
  bool held_by(hold_id hold) const { return row_.hold == hold; }  // exclusively
  bool is_held_by_living() const { return row_.lease && holder_; }
  const model::permit* permit_of(hold_id hold) const;
  // Empty: the hold does not stand, or its lease is gone.
  std::optional<model::token> token_of(hold_id hold) const;
  // Requires: token_of(hold) is not empty.
  const model::lease_view& lease_of(hold_id hold) const;
  // Whether a guarded transaction may rely on that hold. Then it must stay where it stands.
  bool is_guarded(hold_id hold) const;
  bool has_permits() const { return !permits_.empty(); }
  bool is_expired(const model::lease_view& lease) const {
    return lease.expires_in + skew_ <= std::chrono::microseconds{0};
  }
  std::vector<lease_id> expired_holders() const;
  // How long until the first lease that stands in the way may be killed: a holder's, or that of the head of
  // the queue if it may be what the others wait for.
  std::chrono::microseconds takeover_in() const;

  // -- who waits --
  bool is_queued(hold_id hold) const;
  bool has_waiters() const { return !living_.empty() || !view_.queue_complete; }
  bool fits(model::lock_mode mode, std::int64_t weight) const { return fits(mode, weight, row_.in_use); }
  // Whether a waiter may be granted now, as far as is known.
  bool has_next() const;
  std::size_t waiting() const { return living_.size(); }  // of the part that was read
  std::vector<lease_id> expired_waiters() const;

  // Empty: the lock is what was asked for (I11). Otherwise the refusal.
  std::optional<decision> refuse_other(const model::lock_definition& asked);

  // -- changes --
  void clear_holder();
  // Clears a dead holder. A lock with a delay rests that long before it is free, unless it has rested.
  void remove_dead_holder(std::chrono::milliseconds delay);
  // Nobody holds the lock, and nobody can until that lease ends: it has no hold, and nobody renews it.
  void rest(const store::lease_record& lease);
  void remove_permit(hold_id hold);
  void remove_all_permits();
  void resize(std::int64_t capacity);
  void bump_token() { row_.token = model::next_token(row_.token, view_.epoch_floor); }
  void grant(const model::waiter& wanted, const std::optional<model::lease_view>& lease);
  void grant_everybody_next();
  void enqueue(const model::waiter& wanted);
  void dequeue(hold_id hold);
  // Creates that lease, and moves the permit onto it.
  void move_permit(hold_id hold, const store::lease_record& lease);
  // Adds a permit that stands on no lease, so it outlives its client.
  void count_down(hold_id hold, std::int64_t n);
  // All waiters of a latch go on.
  void release_waiters();
  // All members of a barrier's generation go on, `last` among them, with the generation's number as token.
  void complete(const model::waiter& last);
  // Removes all waiters of a barrier, and wakes their clients to find that out.
  void break_generation();
  // A hold that stands becomes shared, with its token, or exclusive, with a new one.
  void make_shared();
  void make_exclusive(const model::permit& permit);

  // -- results --
  store::lock_change& change() { return made_.change; }
  client_layer::outcome& outcome() { return made_.outcome; }
  // Reports a hold that stands: its token, weight and mode, and its lock.
  void report_hold(hold_id hold);
  decision finish(outcome::what result);
  decision unchanged(outcome::what result);  // nothing is written
  // Moves a hold that stands onto that lease, under the id `as` and with its token, and returns `granted`.
  // Nothing else is written, and nothing at all if it stands there already (I7). Returns `guarded` if a
  // guarded transaction relies on the hold; then it stays where it is.
  decision move_onto(hold_id hold, lease_id onto, hold_id as);
  decision kill_first(std::vector<lease_id> leases);
  // Empty: it is known who may be granted next. Otherwise the decision that must come first; then the same
  // request can be decided again. That decision drops all changes made here; it writes at most the removal of
  // the dead.
  std::optional<decision> must_do_first();

 private:
  struct next_grants {
    std::vector<lease_id> expired;  // of waiters that would be granted, or stand in the way of others
    bool unknown = false;           // only unread rows tell which waiter is first
  };

  bool fits(model::lock_mode mode, std::int64_t weight, std::int64_t in_use) const;
  bool can_ever_fit(const model::waiter& waiter) const;
  void drop_dead();
  void recount();
  std::int64_t head_ticket() const;
  next_grants find_next_grants() const;
  bool removed(hold_id hold) const;
  void add_permit(const model::permit& permit, const std::optional<model::lease_view>& lease);

  const store::lock_view& view_;
  const std::chrono::microseconds skew_;
  model::lock_row row_;
  std::optional<model::lease_view> holder_;
  std::vector<store::permit_view> permits_;
  std::vector<store::waiter_view> living_;
  decision made_;
};

}  // namespace rowlock::client_layer
