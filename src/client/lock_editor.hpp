// A lock while a decision about it is made: what was read, what has been changed of it, and who comes next.
//
// I1, I2 and I9 are enforced here: only grant() makes a holder, it takes the next token, and of those who
// wait it is always the first living one.
#pragma once

#include "client/decisions.hpp"

#include <optional>
#include <vector>

namespace rowlock::client_layer {

class lock_editor {
 public:
  // Waiters and permits of the dead are gone from the start, but for permits that a guarded transaction
  // keeps. A latch keeps its permits, whoever counted; a barrier that has lost a member is broken.
  lock_editor(const store::lock_view& view, std::chrono::microseconds skew);

  const model::lock_row& row() const { return row_; }

  // -- who holds --
  bool held_by(hold_id hold) const { return row_.hold == hold; }  // exclusively
  bool is_held_by_living() const { return row_.lease && holder_; }
  const model::permit* permit_of(hold_id hold) const;
  // Of a hold on a lease that exists.
  std::optional<model::token> token_of(hold_id hold) const;
  // That lease, of a hold with a token.
  const model::lease_view& lease_of(hold_id hold) const;
  // A guarded transaction may rely on that hold: it must stay where it stands.
  bool is_guarded(hold_id hold) const;
  bool has_permits() const { return !permits_.empty(); }
  bool is_expired(const model::lease_view& lease) const {
    return lease.expires_in + skew_ <= std::chrono::microseconds{0};
  }
  std::vector<lease_id> expired_holders() const;
  // How long until the first lease of those that stand in the way may be killed: of the holders, and of the
  // head of the queue where it may be what the others wait for.
  std::chrono::microseconds takeover_in() const;

  // -- who waits --
  bool is_queued(hold_id hold) const;
  bool has_waiters() const { return !living_.empty() || !view_.queue_complete; }
  bool fits(model::lock_mode mode, std::int64_t weight) const { return fits(mode, weight, row_.in_use); }
  // Whether somebody who waits may be granted now, as far as is known.
  bool has_next() const;
  std::size_t waiting() const { return living_.size(); }  // as far as was read
  std::vector<lease_id> expired_waiters() const;

  // Empty: the lock is what was asked for (I11).
  std::optional<decision> refuse_other(const model::lock_definition& asked);

  // -- changes --
  void clear_holder();
  // Of a dead one. A lock with a delay rests that long before it is free, unless it has rested.
  void remove_dead_holder(std::chrono::milliseconds delay);
  // Nobody holds it, and nobody can: a lease without a hold, which nobody renews, has it until it ends.
  void rest(const store::lease_record& lease);
  void remove_permit(hold_id hold);
  void remove_all_permits();
  void resize(std::int64_t capacity);
  void bump_token() { row_.token = model::next_token(row_.token, view_.epoch_floor); }
  void grant(const model::waiter& wanted, const std::optional<model::lease_view>& lease);
  void grant_everybody_next();
  void enqueue(const model::waiter& wanted);
  void dequeue(hold_id hold);
  // Of a permit, onto another lease.
  void move_permit(hold_id hold, const store::lease_record& lease);
  // A permit of no lease, which outlives its client.
  void count_down(hold_id hold, std::int64_t n);
  // All who wait at a latch go on; of a barrier, with the last to come and the number of their generation.
  void release_waiters();
  void complete(const model::waiter& last);
  // All who wait at a barrier go away, and are woken to find that out.
  void break_generation();
  // A hold that stands becomes shared or exclusive, with its token.
  void make_shared();
  void make_exclusive(const model::permit& permit);

  // -- results --
  store::lock_change& change() { return made_.change; }
  client_layer::outcome& outcome() { return made_.outcome; }
  // Of a hold that stands: its token, weight and mode, and the lock that it is of.
  void report_hold(hold_id hold);
  decision finish(outcome::what result);
  decision unchanged(outcome::what result);  // nothing is written
  // Granted: the hold, which stands, is put onto that lease, by that id and with its token, and nothing else
  // is written; nor is that where it stands on it already (I7). Guarded: it is left where it stands.
  decision move_onto(hold_id hold, lease_id onto, hold_id as);
  decision kill_first(std::vector<lease_id> leases);
  // Whether it is known who may be granted next. If not, says what must be done first; then nothing of this
  // lock_editor is written but that the dead are cleared away, and the same request can be decided again.
  std::optional<decision> must_do_first();

 private:
  struct next_grants {
    std::vector<lease_id> expired;  // of waiters who would be granted, or stand in the way of others
    bool unknown = false;           // only unread rows tell who comes first
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
