// Decisions that change a hold or a lock and take nothing away.
#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

using client_layer::decide_downgrade;
using client_layer::decide_raise_token;
using client_layer::decide_reduce;
using client_layer::decide_request;
using client_layer::decide_resize;
using client_layer::decide_resize_by;
using client_layer::decide_set_data;
using client_layer::decide_upgrade;

TEST(decide_downgrade_test, keeps_hold_and_token_and_lets_neighbours_in_but_no_writer) {
  const auto made = decide_downgrade(
      a_shared_mutex().held_by(me).queued_to_share(first).queued(second).queued_to_share(third), me.hold,
      no_skew);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_THAT(added(made), ElementsAre(me.hold, first.hold));
  EXPECT_EQ(made.change.add_permits[0].token, 7);
  EXPECT_EQ(made.change.row->in_use, 2);
  EXPECT_FALSE(made.change.row->hold);
  EXPECT_TRUE(made.change.durable);
  const auto alone = decide_downgrade(a_shared_mutex().held_by(me).queued(second), me.hold, no_skew);
  EXPECT_THAT(granted_next(alone), IsEmpty()) << "no writer is granted in between";
}

TEST(decide_downgrade_test, repeated_is_done_and_of_what_is_not_held_absent) {
  const auto again = decide_downgrade(a_shared_mutex().shared_by(me), me.hold, no_skew);
  EXPECT_EQ(again.outcome.result, what::granted);
  EXPECT_TRUE(again.change.empty());
  EXPECT_EQ(decide_downgrade(a_shared_mutex().held_by(first), me.hold, no_skew).outcome.result, what::absent);
  EXPECT_EQ(decide_downgrade(a_shared_mutex().held_by(me, {}), me.hold, no_skew).outcome.result,
            what::absent);
  EXPECT_EQ(decide_downgrade(a_shared_mutex().held_by(me).guarded(), me.hold, no_skew).outcome.result,
            what::guarded);
}

TEST(decide_upgrade_test, of_the_only_reader_is_a_new_grant_of_the_same_hold) {
  const auto made = decide_upgrade(a_shared_mutex().shared_by(me), me.hold, no_skew);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 9);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_EQ(made.change.row->lease, me.lease);
  EXPECT_EQ(made.change.row->in_use, model::shared_mutex_capacity);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(me.hold));
  EXPECT_TRUE(made.change.granted_now);
  const auto again = decide_upgrade(a_shared_mutex().held_by(me), me.hold, no_skew);
  EXPECT_EQ(again.outcome.token, 7);
  EXPECT_TRUE(again.change.empty());
}

TEST(decide_upgrade_test, is_busy_beside_others_and_before_waiters) {
  EXPECT_EQ(decide_upgrade(a_shared_mutex().shared_by(me).shared_by(first), me.hold, no_skew).outcome.result,
            what::busy);
  EXPECT_EQ(decide_upgrade(a_shared_mutex().shared_by(me).queued(first), me.hold, no_skew).outcome.result,
            what::busy);
  EXPECT_EQ(decide_upgrade(a_shared_mutex().shared_by(first), me.hold, no_skew).outcome.result, what::absent);
}

TEST(decide_upgrade_test, has_expired_readers_and_waiters_killed_first) {
  EXPECT_THAT(decide_upgrade(a_shared_mutex().shared_by(me).shared_by(first, 1, -1s), me.hold, no_skew)
                  .outcome.leases,
              ElementsAre(first.lease));
  EXPECT_THAT(
      decide_upgrade(a_shared_mutex().shared_by(me).queued(first, -1s), me.hold, no_skew).outcome.leases,
      ElementsAre(first.lease));
}

TEST(decide_resize_test, grants_what_has_become_free) {
  const auto made = decide_resize(
      a_semaphore(2).shared_by(first, 2).queued_to_share(second, 2).queued_to_share(third, 2), 4, no_skew);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_EQ(made.change.row->capacity, 4);
  EXPECT_THAT(granted_next(made), ElementsAre(second.hold));
  EXPECT_EQ(made.change.row->in_use, 4);
}

TEST(decide_resize_test, below_what_is_in_use_takes_nothing_and_removes_waiters_that_can_never_be_granted) {
  const auto made = decide_resize(
      a_semaphore(4).shared_by(first, 4).queued_to_share(second, 3).queued_to_share(third, 2), 2, no_skew);
  EXPECT_EQ(made.change.row->capacity, 2);
  EXPECT_EQ(made.change.row->in_use, 4);
  EXPECT_THAT(made.change.remove_permits, IsEmpty());
  EXPECT_THAT(made.change.dequeue, ElementsAre(second.hold));
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST(decide_resize_test, of_anything_but_a_semaphore_is_refused) {
  EXPECT_EQ(decide_resize(a_lock(), 2, no_skew).outcome.result, what::mismatch);
  EXPECT_TRUE(decide_resize(a_semaphore(2), 2, no_skew).change.empty());
}

TEST(decide_resize_by_test, adds_to_the_stored_capacity_within_its_bounds) {
  const auto made = decide_resize_by(a_semaphore(2), 3, no_skew);
  EXPECT_EQ(made.change.row->capacity, 5);
  EXPECT_EQ(made.outcome.stored.capacity, 5);
  EXPECT_EQ(decide_resize_by(a_semaphore(2), 0, no_skew).outcome.stored.capacity, 2);
  EXPECT_EQ(decide_resize_by(a_semaphore(2), -1, no_skew).change.row->capacity, 1);
  const auto refused = decide_resize_by(a_semaphore(2), -2, no_skew);
  EXPECT_EQ(refused.outcome.result, what::overrun);
  EXPECT_EQ(refused.outcome.remaining, 2);
  EXPECT_TRUE(refused.change.empty());
  EXPECT_EQ(decide_resize_by(a_lock(), 1, no_skew).outcome.result, what::mismatch);
}

TEST(decide_reduce_test, keeps_hold_token_and_lease_and_grants_what_has_become_free) {
  const auto made =
      decide_reduce(a_semaphore(4).shared_by(me, 4).queued_to_share(first, 2).queued_to_share(second, 2),
                    me.hold, 1, no_skew);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(me.hold));
  EXPECT_THAT(added(made), ElementsAre(me.hold, first.hold));
  EXPECT_EQ(made.change.add_permits[0].weight, 1);
  EXPECT_EQ(made.change.add_permits[0].token, 8);
  EXPECT_EQ(made.change.add_permits[0].lease, me.lease);
  EXPECT_EQ(made.change.row->in_use, 3);
  EXPECT_THAT(granted_next(made), ElementsAre(first.hold)) << "the second one does not fit";
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_reduce_test, repeated_is_done_and_never_raises) {
  for (const std::int64_t weight : {2, 3}) {
    const auto again = decide_reduce(a_semaphore(4).shared_by(me, 2), me.hold, weight, no_skew);
    EXPECT_EQ(again.outcome.result, what::granted);
    EXPECT_EQ(again.outcome.token, 8);
    EXPECT_TRUE(again.change.empty());
  }
}

TEST(decide_reduce_test, of_what_is_not_held_is_absent_and_of_a_guarded_permit_waits) {
  EXPECT_EQ(decide_reduce(a_semaphore(4).shared_by(first, 2), me.hold, 1, no_skew).outcome.result,
            what::absent);
  EXPECT_EQ(decide_reduce(a_semaphore(4).shared_by(me, 2, {}), me.hold, 1, no_skew).outcome.result,
            what::absent);
  store::lock_view guarded = a_semaphore(4).shared_by(me, 2);
  guarded.permits[0].guarded = true;
  const auto kept = decide_reduce(guarded, me.hold, 1, no_skew);
  EXPECT_EQ(kept.outcome.result, what::guarded);
  EXPECT_TRUE(kept.change.empty());
}

TEST(decide_reduce_test, has_expired_waiters_killed_first) {
  EXPECT_THAT(
      decide_reduce(a_semaphore(4).shared_by(me, 4).queued_to_share(first, 2, -1s), me.hold, 1, no_skew)
          .outcome.leases,
      ElementsAre(first.lease));
}

TEST(decide_raise_token_test, raises_the_holders_token_durably_and_changes_nothing_else) {
  for (const auto& view : {a_lock().held_by(me), a_lock().held_by(me).queued(first)}) {
    const auto made = decide_raise_token(view, me.hold, 40);
    EXPECT_EQ(made.outcome.result, what::granted);
    EXPECT_EQ(made.outcome.token, 40);
    ASSERT_TRUE(made.change.row);
    EXPECT_EQ(made.change.row->token, 40);
    EXPECT_EQ(made.change.row->hold, me.hold);
    EXPECT_EQ(made.change.row->lease, me.lease);
    EXPECT_TRUE(made.change.durable);
    EXPECT_FALSE(made.change.granted_now);
  }
}

TEST(decide_raise_token_test, never_lowers_it) {
  for (const model::token at_least : {3, 6, 7}) {
    const auto made = decide_raise_token(a_lock().held_by(me), me.hold, at_least);
    EXPECT_EQ(made.outcome.result, what::granted);
    EXPECT_EQ(made.outcome.token, 7);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_raise_token_test, of_what_is_not_held_exclusively_is_absent) {
  for (const auto& view : {a_lock(), a_lock().held_by(first), a_lock().held_by(me, {}), a_lock().queued(me),
                           a_shared_mutex().shared_by(me)}) {
    const auto made = decide_raise_token(view, me.hold, 40);
    EXPECT_EQ(made.outcome.result, what::absent);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_request_test, notifies_every_holders_process_and_changes_no_hold) {
  party reader;
  reader.client = lease_id::random();
  const auto made = decide_request(a_shared_mutex().shared_by(me).shared_by(reader).queued(first), "why", 5s);
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_EQ(made.outcome.token, 9) << "of the latest hold";
  ASSERT_TRUE(made.change.request);
  EXPECT_EQ(made.change.request->upto, 9);
  EXPECT_EQ(made.change.request->within, 5s);
  EXPECT_EQ(made.change.request->reason, "why");
  EXPECT_THAT(made.change.notices, ElementsAre(me.client, reader.client));
  EXPECT_EQ(made.change.row->token, 9);
  EXPECT_THAT(made.change.remove_permits, IsEmpty());
}

TEST(decide_request_test, asks_nobody_where_no_holder_lives) {
  party nobody;
  nobody.hold = hold_id{};
  for (const store::lock_view& view :
       {store::lock_view(a_lock()), store::lock_view(a_lock().queued(first)),
        store::lock_view(a_lock().held_by(me, {})), store::lock_view(a_lock().held_by(nobody))}) {
    const auto made = decide_request(view, "", 5s);
    EXPECT_EQ(made.outcome.result, what::absent);
    EXPECT_TRUE(made.change.empty());
  }
}

// Only waiters stand at a latch or a barrier; there is no hold whose release could be requested.
TEST(decide_request_test, asks_nobody_at_a_latch_or_a_barrier) {
  for (const auto kind : {model::lock_kind::latch, model::lock_kind::barrier}) {
    const auto made = decide_request(view_builder{}.kind(kind).capacity(2).shared_by(me), "", 5s);
    EXPECT_EQ(made.outcome.result, what::absent);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_set_data_test, is_written_under_the_row_by_the_holder_alone) {
  const auto made = decide_set_data(a_lock().kind(model::lock_kind::election).held_by(me), me.hold, "x");
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.change.value, "7 x");
  EXPECT_THAT(made.change.data, IsEmpty());
  EXPECT_TRUE(made.change.durable);
  EXPECT_FALSE(made.change.row);
  EXPECT_EQ(made.outcome.stored.kind, model::lock_kind::election);
  party rests = me;
  rests.lease = lease_id::belonging_to(me.hold);
  for (const store::lock_view& view :
       {store::lock_view(a_lock()), store::lock_view(a_lock().held_by(first)),
        store::lock_view(a_lock().held_by(me, {})), store::lock_view(a_lock().queued(me)),
        store::lock_view(a_semaphore(5).shared_by(first)), store::lock_view(a_semaphore(5).shared_by(rests)),
        store::lock_view(a_semaphore(5).shared_by(me, 1, {}))}) {
    const auto refused = decide_set_data(view, me.hold, "x");
    EXPECT_EQ(refused.outcome.result, what::absent);
    EXPECT_TRUE(refused.change.empty());
  }
}

TEST(decide_set_data_test, of_a_permit_is_written_beside_it) {
  const auto made =
      decide_set_data(a_semaphore(5).shared_by(first).shared_by(me).queued(second), me.hold, "x");
  EXPECT_EQ(made.outcome.result, what::granted);
  ASSERT_EQ(made.change.data.size(), 1U);
  EXPECT_EQ(made.change.data[0].hold, me.hold);
  EXPECT_EQ(made.change.data[0].text, "x");
  EXPECT_FALSE(made.change.value);
  EXPECT_FALSE(made.change.row);
  EXPECT_TRUE(made.change.durable);
}

// The guard of a permit locks the row that set_data writes. The guard of an exclusive hold does not, so there an edit
// may write.
TEST(decide_set_data_test, waits_for_the_guard_of_a_permit) {
  EXPECT_EQ(decide_set_data(a_semaphore(5).shared_by(me).guarded(), me.hold, "x").outcome.result,
            what::guarded);
  EXPECT_EQ(decide_set_data(a_lock().held_by(me).guarded(), me.hold, "x").change.value, "7 x");
}

TEST(decide_downgrade_test, keeps_the_data) {
  const auto made = decide_downgrade(a_shared_mutex().held_by(me).data("7 mine"), me.hold, no_skew);
  ASSERT_EQ(made.change.data.size(), 1U);
  EXPECT_EQ(made.change.data[0].hold, me.hold);
  EXPECT_EQ(made.change.data[0].text, "mine");
  for (const auto* stored : {"6 of another", "7 ", ""}) {
    const auto none = decide_downgrade(a_shared_mutex().held_by(me).data(stored), me.hold, no_skew);
    EXPECT_THAT(none.change.data, IsEmpty()) << stored;
  }
}

TEST(decide_upgrade_test, keeps_the_data_under_its_new_token) {
  const auto made = decide_upgrade(a_shared_mutex().shared_by(me).data("mine"), me.hold, no_skew);
  EXPECT_EQ(made.outcome.token, 9);
  EXPECT_EQ(made.change.value, "9 mine");
  const auto busy =
      decide_upgrade(a_shared_mutex().shared_by(me).shared_by(first).data("mine"), me.hold, no_skew);
  EXPECT_TRUE(busy.change.empty());
}

}  // namespace
}  // namespace rowlock::test
