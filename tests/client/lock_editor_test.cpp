#include "client/decision/lock_editor.hpp"

#include "client/lock_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::lock_editor;
using model::lock_mode;
using testing::ElementsAre;
using testing::IsEmpty;

class lock_editor_test : public testing::Test {
 protected:
  // The editor keeps a reference to the view.
  lock_editor& edits(const store::lock_view& view) {
    read = view;
    return lock.emplace(read, no_skew);
  }
  static model::waiter wish(const party& who) { return {0, who.hold, who.lease, 1, lock_mode::exclusive}; }
  static model::waiter share_of(const party& who, std::int64_t weight) {
    return {0, who.hold, who.lease, weight, lock_mode::shared};
  }
  static std::vector<hold_id> granted(const decision& made) {
    std::vector<hold_id> holds;
    for (const auto& one : made.outcome.next) holds.push_back(one.waiter.hold);
    return holds;
  }

  const party me{}, first{}, second{}, third{};
  store::lock_view read;
  std::optional<lock_editor> lock;
};

TEST_F(lock_editor_test, each_grant_takes_the_next_token_and_none_below_the_epochs_floor) {
  auto& free = edits(a_semaphore(5));
  for (const auto& [who, token] : {std::pair{me, 8}, {first, 9}}) {
    free.grant(share_of(who, 2), who.view(30s));
    EXPECT_EQ(free.row().token, token);
    EXPECT_EQ(free.token_of(who.hold), token);
  }
  EXPECT_EQ(free.row().in_use, 4);
  const auto made = free.finish(what::granted);
  EXPECT_EQ(made.change.add_permits.size(), 2U);
  EXPECT_TRUE(made.change.durable);
  EXPECT_TRUE(made.change.granted_now);
  auto& next_epoch = edits(a_lock().floor(100));
  next_epoch.grant(wish(me), me.view(30s));
  EXPECT_EQ(next_epoch.row().token, 100);
}

TEST_F(lock_editor_test, an_exclusive_grant_takes_the_whole_capacity_and_the_waiter_from_the_queue) {
  auto& free = edits(a_shared_mutex().queued(me));
  free.grant(read.queue.front().waiter, me.view(30s));
  EXPECT_TRUE(free.held_by(me.hold));
  EXPECT_TRUE(free.is_held_by_living());
  EXPECT_FALSE(free.is_queued(me.hold));
  const auto made = free.finish(what::granted);
  EXPECT_THAT(made.change.dequeue, ElementsAre(me.hold));
  EXPECT_EQ(made.change.row->in_use, made.change.row->capacity);
  EXPECT_FALSE(made.change.row->has_queue);
}

TEST_F(lock_editor_test, drops_the_dead_with_what_they_had) {
  auto& one = edits(
      a_semaphore(5).shared_by(first, 2, {}).shared_by(second, 1).dead_waiter(third).queued_to_share(me));
  EXPECT_EQ(one.row().in_use, 1);
  EXPECT_EQ(one.waiting(), 1U);
  EXPECT_FALSE(one.is_queued(third.hold));
  EXPECT_EQ(one.permit_of(first.hold), nullptr);
  const auto made = one.finish(what::busy);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(first.hold));
  EXPECT_THAT(made.change.dequeue, ElementsAre(third.hold));
}

TEST_F(lock_editor_test, a_guarded_transaction_keeps_the_permit_of_the_dead) {
  auto& one = edits(a_semaphore(5).shared_by(first, 2, {}).guarded().shared_by(second, 1, {}));
  EXPECT_EQ(one.row().in_use, 2);
  EXPECT_TRUE(one.is_guarded(first.hold));
  EXPECT_FALSE(one.is_guarded(second.hold));
  EXPECT_FALSE(one.token_of(first.hold)) << "it does not stand";
  EXPECT_THAT(one.finish(what::busy).change.remove_permits, ElementsAre(second.hold));
}

TEST_F(lock_editor_test, a_latch_keeps_all_that_was_counted_down) {
  auto& one = edits(a_semaphore(5).kind(model::lock_kind::latch).shared_by(first, 2, {}));
  EXPECT_EQ(one.row().in_use, 2);
  one.count_down(me.hold, 3);
  EXPECT_EQ(one.row().in_use, 5);
  const auto made = one.finish(what::released);
  EXPECT_THAT(made.change.remove_permits, IsEmpty());
  EXPECT_TRUE(made.change.add_permits.front().lease.is_nil()) << "it outlives its client";
}

TEST_F(lock_editor_test, a_barrier_that_has_lost_a_member_is_broken_for_all) {
  auto& one =
      edits(a_semaphore(3).kind(model::lock_kind::barrier).queued_to_share(first).dead_waiter(second));
  EXPECT_EQ(one.waiting(), 0U);
  const auto made = one.finish(what::broken);
  EXPECT_THAT(made.change.dequeue, testing::UnorderedElementsAre(first.hold, second.hold));
  EXPECT_THAT(made.outcome.wake, ElementsAre(first.client));
  EXPECT_TRUE(made.change.durable);
}

TEST_F(lock_editor_test, grants_in_the_order_of_the_queue_and_stops_at_the_first_that_does_not_fit) {
  auto& one =
      edits(a_semaphore(4).queued_to_share(first, 2).queued_to_share(second, 3).queued_to_share(third, 1));
  EXPECT_TRUE(one.has_next());
  one.grant_everybody_next();
  EXPECT_FALSE(one.has_next());
  const auto made = one.finish(what::released);
  EXPECT_THAT(granted(made), ElementsAre(first.hold))
      << "nobody overtakes the second, not even where it fits";
  EXPECT_EQ(made.outcome.next.front().client, first.client);
  EXPECT_FALSE(made.outcome.more);
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST_F(lock_editor_test, says_that_waiters_may_follow_beyond_the_part_that_was_read) {
  auto& one = edits(a_semaphore(4).queued_to_share(first).more_behind());
  one.grant_everybody_next();
  EXPECT_TRUE(one.has_waiters());
  EXPECT_TRUE(one.finish(what::released).outcome.more);
}

TEST_F(lock_editor_test, grants_to_nobody_on_another_server_than_the_recorded_one) {
  auto& one = edits(a_lock().queued(first).foreign());
  one.grant_everybody_next();
  const auto made = one.finish(what::released);
  EXPECT_THAT(granted(made), IsEmpty());
  EXPECT_TRUE(made.change.empty());
}

TEST_F(lock_editor_test, must_first_have_a_waiter_killed_that_has_expired) {
  auto& one = edits(a_lock().queued(first, -1s).queued(second));
  const auto killing = one.must_do_first();
  ASSERT_TRUE(killing);
  EXPECT_EQ(killing->outcome.result, what::expired);
  EXPECT_THAT(killing->outcome.leases, ElementsAre(first.lease));
  EXPECT_TRUE(killing->change.empty());
  EXPECT_THAT(edits(a_lock().queued(first).queued(second, -1s)).must_do_first(), testing::Eq(std::nullopt))
      << "the second does not stand in the first one's way";
  const auto elsewhere = edits(a_lock().queued(first, -1s).foreign()).must_do_first();
  EXPECT_EQ(elsewhere->outcome.result, what::unrecorded_server) << "this server's clock judges no lease";
}

TEST_F(lock_editor_test, must_first_remove_the_dead_where_nobody_living_was_read) {
  auto& one = edits(a_lock().dead_waiter(first).more_behind());
  one.bump_token();
  const auto clearing = one.must_do_first();
  ASSERT_TRUE(clearing);
  EXPECT_EQ(clearing->outcome.result, what::decide_again);
  EXPECT_THAT(clearing->change.dequeue, ElementsAre(first.hold));
  EXPECT_EQ(clearing->change.row->token, 7) << "what was changed before is dropped";
  EXPECT_FALSE(edits(a_lock().held_by(me).more_behind()).must_do_first()) << "nobody can be next";
}

TEST_F(lock_editor_test, a_lost_lock_with_a_delay_rests_on_a_lease_of_nobodys) {
  auto& one = edits(a_lock().held_by(first, {}));
  one.remove_dead_holder(3s);
  EXPECT_FALSE(one.held_by(first.hold));
  EXPECT_TRUE(one.is_held_by_living());
  EXPECT_EQ(one.takeover_in(), 3s);
  const auto made = one.finish(what::busy);
  ASSERT_EQ(made.change.create_leases.size(), 1U);
  EXPECT_EQ(made.change.create_leases.front().ttl, 3s);
  EXPECT_EQ(made.change.row->lease, made.change.create_leases.front().id);
  EXPECT_TRUE(made.change.row->hold->is_nil());
  EXPECT_TRUE(made.change.durable);

  auto rested = a_lock().held_by({.hold = {}}, {});
  auto& again = edits(rested);
  again.remove_dead_holder(3s);
  EXPECT_FALSE(again.row().lease) << "it has rested, and is free";
}

TEST_F(lock_editor_test, a_hold_that_is_lost_a_second_time_after_another_grant_rests_on_another_lease) {
  const auto rest_after = [&](model::token token) {
    store::lock_view lost = a_lock().held_by(first, {});
    lost.row.token = token;
    edits(lost).remove_dead_holder(3s);
    return lock->finish(what::busy).change.create_leases.front().id;
  };
  EXPECT_NE(rest_after(7), rest_after(8)) << "I3";
  EXPECT_EQ(rest_after(7), rest_after(7));
}

TEST_F(lock_editor_test, a_lowered_capacity_sends_away_who_can_never_fit) {
  auto& one = edits(a_semaphore(5).shared_by(me, 4).queued_to_share(first, 3).queued_to_share(second, 2));
  one.resize(2);
  EXPECT_FALSE(one.has_next()) << "more is in use than there is";
  const auto made = one.finish(what::released);
  EXPECT_THAT(made.change.dequeue, ElementsAre(first.hold));
  EXPECT_EQ(made.change.row->capacity, 2);
  EXPECT_EQ(made.change.row->in_use, 4);
}

TEST_F(lock_editor_test, a_shared_hold_keeps_its_token_and_an_exclusive_one_gets_a_new_one) {
  auto& one = edits(a_shared_mutex().held_by(me));
  one.make_shared();
  EXPECT_EQ(one.token_of(me.hold), 7);
  EXPECT_EQ(one.row().in_use, 1);
  const auto permit = *one.permit_of(me.hold);
  one.make_exclusive(permit);
  EXPECT_EQ(one.token_of(me.hold), 8);
  EXPECT_EQ(one.permit_of(me.hold), nullptr);
  EXPECT_EQ(one.row().in_use, model::shared_mutex_capacity);
}

TEST_F(lock_editor_test, moves_a_hold_with_its_token_and_writes_nothing_where_it_stands_already) {
  const auto heir = hold_id::random();
  const auto onto = lease_id::random();
  const auto moved = edits(a_lock().held_by(me)).move_onto(me.hold, onto, heir);
  EXPECT_EQ(moved.outcome.result, what::granted);
  EXPECT_EQ(moved.outcome.token, 7);
  EXPECT_EQ(moved.change.row->lease, onto);
  EXPECT_EQ(moved.change.row->hold, heir);
  EXPECT_EQ(moved.change.row->token, 7);
  EXPECT_TRUE(moved.change.durable);
  const auto again = edits(a_lock().held_by(me)).move_onto(me.hold, me.lease, me.hold);
  EXPECT_EQ(again.outcome.result, what::granted);
  EXPECT_TRUE(again.change.empty());
  const auto guarded = edits(a_lock().held_by(me).guarded()).move_onto(me.hold, onto, heir);
  EXPECT_EQ(guarded.outcome.result, what::guarded);
  EXPECT_TRUE(guarded.change.empty());
}

TEST_F(lock_editor_test, a_change_beside_the_row_writes_the_row_too_and_no_change_writes_nothing) {
  auto& one = edits(a_lock().held_by(first));
  one.enqueue(wish(me));
  const auto made = one.finish(what::queued);
  ASSERT_TRUE(made.change.row);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_EQ(made.change.enqueue.front().ticket, read.row.next_ticket);
  EXPECT_EQ(made.change.row->next_ticket, read.row.next_ticket + 1);
  EXPECT_TRUE(edits(a_lock().held_by(first)).finish(what::busy).change.empty());
  auto& refused = edits(a_lock().held_by(first).dead_waiter(second));
  EXPECT_TRUE(refused.unchanged(what::busy).change.empty()) << "not even the removal of the dead";
}

TEST_F(lock_editor_test, refuses_a_lock_that_is_stored_as_another_one) {
  auto& one = edits(a_semaphore(3));
  EXPECT_FALSE(one.refuse_other({"a", model::lock_kind::semaphore, 3}));
  const auto refusal = one.refuse_other({"a", model::lock_kind::semaphore, 4});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->outcome.result, what::mismatch);
  EXPECT_EQ(refusal->outcome.stored.capacity, 3);
  EXPECT_TRUE(refusal->change.empty());
}

}  // namespace
}  // namespace rowlock::test
