// The changes that a decision makes to a lock, and the decision itself.
//
// I1, I2 and I9 are enforced here: only grant() makes a holder, it takes the next token, and the first live
// waiter always comes first.
#pragma once

#include "client/decision/lock_state.hpp"

#include <optional>
#include <vector>

namespace rowlock::client_layer {

class lock_editor : public lock_state {
 public:
  // Removes the dead, as lock_state::remove_dead says. A barrier that has lost a member is broken.
  lock_editor(const store::lock_view& view, std::chrono::microseconds skew);

  // Empty: the lock is what was asked for (I11). Otherwise the refusal.
  std::optional<decision> refuse_other(const model::lock_definition& asked);

  // Also true for a place beyond the part of the queue that was read.
  bool is_queued(hold_id hold) const;

  // -- changes --
  void clear_holder();
  // Clears a dead holder. A lock with a delay rests that long before it is free, unless it has already rested.
  void remove_dead_holder(std::chrono::milliseconds delay);
  // Makes the lock rest until that lease ends, which has no hold and which nobody renews.
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
  // The permit keeps its token and its lease.
  void reduce(hold_id hold, std::int64_t weight);
  // Adds a permit that stands on no lease, so it outlives its client.
  void count_down(hold_id hold, std::int64_t n);
  // Lets all waiters of a latch continue.
  void release_waiters();
  // Lets all members of a barrier's generation continue, including `last`, with the generation's number as their token.
  void complete(const model::waiter& last);
  // Removes all waiters of a barrier, and wakes their clients so that they find out.
  void break_generation();
  // Makes a stored hold shared, with its token, or exclusive, with a new one. It keeps the data that the view shows.
  void make_shared();
  void make_exclusive(const model::permit& permit);

  // -- results --
  store::lock_change& change() { return made_.change; }
  client_layer::outcome& outcome() { return made_.outcome; }
  // Reports a stored hold: its token, weight and mode, and its lock.
  void report_hold(hold_id hold);
  decision finish(outcome::what result);
  decision unchanged(outcome::what result);  // nothing is written
  // Moves a stored hold onto that lease, under the id `as` and with its token, and returns `granted`. A
  // permit that gets another id keeps the data that the view shows. Writes nothing else, and nothing at all
  // if the hold stands on that lease already (I7). Returns `guarded` if a guarded transaction relies on the
  // hold, which then stays where it is.
  decision move_onto(hold_id hold, lease_id onto, hold_id as);
  // Adds the data of a hold to a change. The token, and whether the hold is exclusive, are those after the changes so
  // far.
  void write_data(store::lock_change& change, hold_id hold, const std::string& text) const;
  // Writes the data of a stored hold, and returns `granted`. Nothing else is written.
  decision with_data(hold_id hold, const std::string& text);
  decision kill_first(std::vector<lease_id> leases);
  // Empty: it is known who may be granted next. Otherwise the decision that must be carried out first; the same request
  // is then decided again. That decision drops all changes made here; it writes at most the removal of the dead.
  std::optional<decision> must_do_first();

 private:
  std::int64_t head_ticket() const;
  bool removed(hold_id hold) const;
  void add_permit(const model::permit& permit, const std::optional<model::lease_view>& lease);

  decision made_;
};

}  // namespace rowlock::client_layer
