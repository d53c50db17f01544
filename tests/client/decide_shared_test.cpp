// Decisions about locks that several hold at once: readers beside writers, and counted permits.
#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

using client_layer::decide_force;
using client_layer::decide_move;
using client_layer::decide_release;
using client_layer::decide_sweep;
using client_layer::decide_upgrade;

decision release(const store::lock_view& view, const party& who = me) {
  return decide_release(view, {who.hold}, no_skew);
}

TEST(decide_shared_test, a_free_lock_is_shared_durably_with_the_next_token) {
  const auto made = share(a_semaphore(4), me, 3);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.outcome.weight, 3);
  EXPECT_TRUE(made.change.durable);
  EXPECT_TRUE(made.change.granted_now);
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits[0].hold, me.hold);
  EXPECT_EQ(made.change.add_permits[0].lease, me.lease);
  EXPECT_EQ(made.change.add_permits[0].weight, 3);
  EXPECT_EQ(made.change.add_permits[0].token, 8);
  EXPECT_EQ(made.change.row->in_use, 3);
  EXPECT_EQ(made.change.row->token, 8);
  EXPECT_FALSE(made.change.row->hold);
}

TEST(decide_shared_test, a_permit_ends_with_the_lease_that_it_stands_on_alone) {
  const auto view = a_shared_mutex().shared_by(first).shared_by(me);
  EXPECT_EQ(decide_release(view, {me.hold, me.lease}, no_skew).outcome.result, what::released);
  for (const auto& [hold, lease] : {std::pair{me.hold, first.lease}, std::pair{second.hold, first.lease}}) {
    const auto made = decide_release(view, {hold, lease}, no_skew);
    EXPECT_EQ(made.outcome.result, what::absent);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_shared_test, readers_join_readers_and_a_writer_waits_for_them) {
  const auto joined = share(a_shared_mutex().shared_by(first), me);
  EXPECT_EQ(joined.outcome.result, what::granted);
  EXPECT_EQ(joined.change.row->in_use, 2);
  const auto waits = write(a_shared_mutex().shared_by(first, 1, 20s).shared_by(second, 1, 10s), me);
  EXPECT_EQ(waits.outcome.result, what::queued);
  EXPECT_EQ(waits.outcome.takeover_in, 10s) << "the earliest of the holders";
  EXPECT_EQ(waits.change.enqueue.front().mode, model::lock_mode::exclusive);
  EXPECT_EQ(waits.change.enqueue.front().weight, model::shared_mutex_capacity);
}

TEST(decide_shared_test, a_reader_waits_for_the_writer_who_holds_and_for_the_one_who_waits) {
  const auto behind_holder = share(a_shared_mutex().held_by(first), me);
  EXPECT_EQ(behind_holder.outcome.result, what::queued);
  EXPECT_EQ(behind_holder.change.enqueue.front().mode, model::lock_mode::shared);
  const auto behind_waiter = share(a_shared_mutex().shared_by(first).queued(second), me);
  EXPECT_EQ(behind_waiter.outcome.result, what::queued) << "I9";
  EXPECT_THAT(behind_waiter.change.add_permits, IsEmpty());
  EXPECT_EQ(share(a_shared_mutex().shared_by(first).queued(second), me, 1, false).outcome.result, what::busy);
}

TEST(decide_shared_test, a_small_request_does_not_overtake_a_large_one) {
  const auto made = share(a_semaphore(4).shared_by(first, 3).queued_to_share(second, 2), me, 1);
  EXPECT_EQ(made.outcome.result, what::queued) << "I9";
}

TEST(decide_shared_test, what_does_not_fit_waits) {
  EXPECT_EQ(share(a_semaphore(4).shared_by(first, 2), me, 2).outcome.result, what::granted);
  EXPECT_EQ(share(a_semaphore(4).shared_by(first, 2), me, 3).outcome.result, what::queued) << "I1";
}

TEST(decide_shared_test, repeated_says_the_same_token_and_weight_and_writes_nothing) {
  const auto made = share(a_semaphore(4).shared_by(me, 2).shared_by(first, 2), me, 2);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.outcome.weight, 2);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_shared_test, neighbours_are_granted_together_when_the_writer_leaves) {
  const auto made =
      release(a_shared_mutex().held_by(me).queued_to_share(first).queued_to_share(second).queued(third));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(granted_next(made), ElementsAre(first.hold, second.hold));
  EXPECT_THAT(added(made), ElementsAre(first.hold, second.hold));
  EXPECT_EQ(made.outcome.next[0].token, 8);
  EXPECT_EQ(made.outcome.next[1].token, 9);
  EXPECT_EQ(made.change.row->token, 9);
  EXPECT_EQ(made.change.row->in_use, 2);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_shared_test, the_last_reader_hands_over_to_the_writer) {
  const auto still = release(a_shared_mutex().shared_by(me).shared_by(first).queued(second));
  EXPECT_THAT(granted_next(still), IsEmpty());
  EXPECT_THAT(still.change.remove_permits, ElementsAre(me.hold));
  EXPECT_EQ(still.change.row->in_use, 1);
  const auto last = release(a_shared_mutex().shared_by(me).queued(second).queued_to_share(third));
  EXPECT_THAT(granted_next(last), ElementsAre(second.hold));
  EXPECT_EQ(last.change.row->hold, second.hold);
  EXPECT_EQ(last.change.row->in_use, model::shared_mutex_capacity);
}

TEST(decide_shared_test, a_writer_who_gives_up_lets_the_readers_behind_it_in) {
  const auto made = release(a_shared_mutex().shared_by(first).queued(me).queued_to_share(second));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(granted_next(made), ElementsAre(second.hold));
}

// The writer and the first reader behind it have given up, and leave in one edit.
TEST(decide_shared_test, grants_nothing_to_a_request_that_leaves_in_the_same_edit) {
  const store::lock_view view =
      a_shared_mutex().shared_by(third).queued(me).queued_to_share(first).queued_to_share(second);
  const std::vector leaving{me.hold, first.hold};
  const auto made = decide_release(view, {.hold = me.hold, .leaving = leaving}, no_skew);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.dequeue, testing::UnorderedElementsAre(me.hold, first.hold, second.hold));
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits[0].hold, second.hold);
  EXPECT_EQ(made.change.row->token, view.row.token + 1);
  ASSERT_EQ(made.outcome.next.size(), 1U);
  EXPECT_EQ(made.outcome.next.front().waiter.hold, second.hold);
}

TEST(decide_shared_test, lets_everybody_leave_who_was_read_although_others_wait_behind_them) {
  const store::lock_view view =
      a_shared_mutex().shared_by(third).queued(me).queued_to_share(first).more_behind();
  const std::vector leaving{me.hold, first.hold};
  const auto made = decide_release(view, {.hold = me.hold, .leaving = leaving}, no_skew);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.dequeue, testing::UnorderedElementsAre(me.hold, first.hold));
  EXPECT_THAT(made.change.add_permits, IsEmpty());
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_TRUE(made.outcome.more) << "a sweep looks at those behind";
}

TEST(decide_shared_test, the_permit_of_the_dead_comes_back_with_any_edit) {
  const auto made = share(a_semaphore(2).shared_by(first, 2, {}), me, 2);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(first.hold));
  EXPECT_EQ(made.change.row->in_use, 2);
}

TEST(decide_shared_test, has_all_expired_holders_killed_that_stand_in_the_way) {
  const auto view =
      a_semaphore(4).shared_by(first, 1, -1s).shared_by(second, 2, 30s).shared_by(third, 1, -2s);
  const auto made = share(view, me, 2);
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(first.lease, third.lease));
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_shared_test, kills_nobody_for_what_fits) {
  EXPECT_EQ(share(a_semaphore(4).shared_by(first, 1, -1s), me, 3).outcome.result, what::granted);
}

TEST(decide_shared_test, an_expired_writer_at_the_head_is_killed_for_the_readers_behind_it) {
  const auto made = share(a_shared_mutex().shared_by(first).queued(second, -1s), me);
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(second.lease));
  const auto later = share(a_shared_mutex().shared_by(first).queued(second, {}).queued_to_share(third), me);
  EXPECT_EQ(later.outcome.result, what::granted);
  EXPECT_THAT(granted_next(later), ElementsAre(third.hold));
}

TEST(decide_shared_test, waits_no_longer_than_for_the_head_of_the_queue) {
  const auto made = share(a_shared_mutex().shared_by(first, 1, 20s).queued(second, 5s), me);
  EXPECT_EQ(made.outcome.takeover_in, 5s) << "I6";
}

TEST(decide_shared_test, each_next_head_must_live) {
  const auto made = release(a_shared_mutex()
                                .held_by(me)
                                .queued_to_share(first)
                                .queued_to_share(second, 1, -1s)
                                .queued_to_share(third));
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(second.lease));
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_shared_test, says_that_more_may_be_granted_beyond_what_was_read) {
  EXPECT_TRUE(release(a_shared_mutex().held_by(me).queued_to_share(first).more_behind()).outcome.more);
  EXPECT_FALSE(release(a_shared_mutex().held_by(me).queued(first).more_behind()).outcome.more);
}

TEST(decide_shared_test, under_a_guard_permits_come_and_its_own_stays) {
  EXPECT_EQ(share(a_semaphore(4).shared_by(first).guarded(), me).outcome.result, what::granted);
  EXPECT_EQ(release(a_semaphore(4).shared_by(me).guarded()).outcome.result, what::guarded);
  const auto dead = share(a_semaphore(1).shared_by(first, 1, {}).guarded(), me);
  EXPECT_EQ(dead.outcome.result, what::queued) << "I1: its transaction may still write";
  EXPECT_EQ(dead.outcome.takeover_in, 0us);
  EXPECT_THAT(dead.change.remove_permits, IsEmpty());
  EXPECT_EQ(write(a_shared_mutex().guarded(), me).outcome.result, what::queued);
}

TEST(decide_shared_test, under_a_guard_permits_of_others_go) {
  const auto view = [] { return a_semaphore(2).shared_by(first).guarded().shared_by(me); };
  const auto made = release(view().queued_to_share(second));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(me.hold));
  EXPECT_THAT(granted_next(made), ElementsAre(second.hold));
  EXPECT_EQ(decide_force(view(), me.hold, no_skew).outcome.result, what::released);
  EXPECT_EQ(decide_force(view(), first.hold, no_skew).outcome.result, what::guarded);
  EXPECT_EQ(decide_force(view(), {}, no_skew).outcome.result, what::guarded);
  const auto swept =
      decide_sweep(a_semaphore(2).shared_by(first, 1, {}).guarded().shared_by(me, 1, {}), no_skew);
  EXPECT_THAT(swept.change.remove_permits, ElementsAre(me.hold));
  EXPECT_EQ(decide_sweep(a_semaphore(2).shared_by(first, 1, {}).guarded(), no_skew).outcome.result,
            what::guarded);
}

TEST(decide_shared_test, under_a_guard_nobody_is_granted_the_whole) {
  const auto made = release(a_shared_mutex().shared_by(first).guarded().shared_by(me).queued(second));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(granted_next(made), IsEmpty());
  EXPECT_EQ(decide_upgrade(a_shared_mutex().shared_by(me).guarded(), me.hold, no_skew).outcome.result,
            what::guarded);
}

TEST(decide_shared_test, an_upgrade_that_others_prevent_does_not_wait_for_a_guard) {
  const auto upgraded = [](const store::lock_view& view) {
    return decide_upgrade(view, me.hold, no_skew).outcome.result;
  };
  EXPECT_EQ(upgraded(a_shared_mutex().shared_by(first).guarded().shared_by(me)), what::busy);
  EXPECT_EQ(upgraded(a_shared_mutex().shared_by(first, 1, {}).guarded().shared_by(me)), what::busy)
      << "the transaction of the dead reader may still read";
  EXPECT_EQ(upgraded(a_shared_mutex().shared_by(me).guarded().queued(first)), what::busy);
}

TEST(decide_shared_test, on_a_foreign_server_nobody_is_granted_and_nobody_forgotten) {
  EXPECT_EQ(share(a_semaphore(2).shared_by(first).foreign(), me).outcome.result, what::unrecorded_server);
  EXPECT_EQ(share(a_semaphore(1).shared_by(first).foreign(), me).outcome.result, what::queued);
  EXPECT_EQ(
      release(a_semaphore(2).shared_by(me).shared_by(first).queued_to_share(second).foreign()).outcome.result,
      what::unrecorded_server);
}

TEST(decide_shared_test, unfair_locks_let_a_request_overtake_where_it_fits) {
  const auto view = a_semaphore(4).unfair().shared_by(first, 3).queued_to_share(second, 2);
  EXPECT_EQ(share(view, me, 1).outcome.result, what::granted);
  EXPECT_EQ(share(view, me, 2).outcome.result, what::queued);
}

TEST(decide_shared_test, another_fairness_is_another_lock) {
  const auto made = client_layer::decide_acquire(a_lock().unfair(), wish_of(me, true), no_skew);
  EXPECT_EQ(made.outcome.result, what::mismatch);
}

TEST(decide_shared_test, drain_takes_all_that_is_free_when_nobody_waits) {
  const auto drain = [](const store::lock_view& view) {
    return client_layer::decide_acquire(
        view, {{{"a", model::lock_kind::semaphore, 5}, model::lock_mode::shared, 1, true}, me.lease, me.hold},
        no_skew);
  };
  const auto made = drain(a_semaphore(5).shared_by(first, 2));
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.weight, 3);
  EXPECT_EQ(made.change.row->in_use, 5);
  EXPECT_EQ(drain(a_semaphore(5).shared_by(first, 5)).outcome.result, what::busy);
  EXPECT_EQ(drain(a_semaphore(5).shared_by(first, 4).queued_to_share(second, 2)).outcome.result, what::busy);
}

TEST(decide_shared_test, a_permit_moves_to_a_lease_of_its_own_with_its_token) {
  const auto to = lease_id::random();
  const auto made =
      decide_move(a_semaphore(4).shared_by(me, 2), me.hold, {to, me.lease, "host", 1, "test", 5s});
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.outcome.weight, 2);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(me.hold));
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits[0].lease, to);
  EXPECT_EQ(made.change.add_permits[0].token, 8);
  EXPECT_TRUE(made.change.row) << "Galera compares only what is written";
  EXPECT_FALSE(made.change.granted_now);
}

TEST(decide_shared_test, force_takes_from_all_and_notifies_each_client_once) {
  party sibling;
  sibling.client = first.client;
  const auto made =
      decide_force(a_semaphore(4).shared_by(first).shared_by(sibling).shared_by(second), {}, no_skew);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(first.hold, sibling.hold, second.hold));
  EXPECT_THAT(made.change.notices, ElementsAre(first.client, second.client));
  EXPECT_EQ(made.change.row->token, 11);
  EXPECT_EQ(made.change.row->in_use, 0);
}

TEST(decide_shared_test, force_of_one_hold_leaves_the_others) {
  const auto made = decide_force(a_semaphore(4).shared_by(first).shared_by(second), second.hold, no_skew);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(second.hold));
  EXPECT_EQ(made.change.row->in_use, 1);
  EXPECT_EQ(decide_force(a_semaphore(4).shared_by(first), second.hold, no_skew).outcome.result, what::absent);
}

TEST(decide_shared_test, sweep_frees_what_the_dead_hold_and_grants_it) {
  const auto made =
      decide_sweep(a_semaphore(2).shared_by(first, 1, {}).shared_by(second).queued_to_share(third), no_skew);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(first.hold));
  EXPECT_THAT(granted_next(made), ElementsAre(third.hold));
  EXPECT_EQ(made.change.row->in_use, 2);
  const auto living = decide_sweep(a_semaphore(2).shared_by(first), no_skew);
  EXPECT_EQ(living.outcome.result, what::busy);
  EXPECT_TRUE(living.change.empty());
}

TEST(decide_shared_test, leaves_the_permits_of_latches_and_of_later_kinds_alone) {
  for (const auto kind : {model::lock_kind::latch, model::lock_kind::unknown}) {
    EXPECT_TRUE(decide_sweep(a_semaphore(2).kind(kind).shared_by(first, 1, {}), no_skew).change.empty());
    EXPECT_TRUE(decide_force(a_semaphore(2).kind(kind).shared_by(first), {}, no_skew).change.empty());
  }
}

}  // namespace
}  // namespace rowlock::test
