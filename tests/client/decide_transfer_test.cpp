// Decisions about holds that move from one process to another.
#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

using client_layer::decide_adopt;
using client_layer::decide_reclaim;

const party successor;
const model::waiter heir{0, successor.hold, successor.lease};

TEST(decide_adopt_test, gives_the_hold_its_adopters_id_and_ends_the_lease_that_it_stood_on) {
  const auto made = decide_adopt(a_lock().held_by(me).queued(first), me.hold, me.lease, heir);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_EQ(made.change.row->lease, heir.lease);
  EXPECT_EQ(made.change.row->hold, heir.hold);
  EXPECT_THAT(made.change.end_leases, testing::ElementsAre(me.lease));
  EXPECT_FALSE(made.change.granted_now);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_adopt_test, a_permit_keeps_its_weight_and_token) {
  const auto made = decide_adopt(a_semaphore(5).shared_by(me, 3), me.hold, me.lease, heir);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.weight, 3);
  EXPECT_EQ(made.outcome.mode, model::lock_mode::shared);
  EXPECT_THAT(made.change.remove_permits, testing::ElementsAre(me.hold));
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits.front().hold, heir.hold);
  EXPECT_EQ(made.change.add_permits.front().lease, heir.lease);
  EXPECT_EQ(made.change.add_permits.front().weight, 3);
  EXPECT_EQ(made.change.add_permits.front().token, made.outcome.token);
}

TEST(decide_adopt_test, the_data_of_a_permit_goes_with_it) {
  const auto made = decide_adopt(a_semaphore(5).shared_by(me).data("mine"), me.hold, me.lease, heir);
  ASSERT_EQ(made.change.data.size(), 1U);
  EXPECT_EQ(made.change.data[0].hold, heir.hold);
  EXPECT_EQ(made.change.data[0].text, "mine");
  const auto exclusive = decide_adopt(a_lock().held_by(me).data("7 mine"), me.hold, me.lease, heir);
  EXPECT_TRUE(exclusive.change.data.empty());
  EXPECT_FALSE(exclusive.change.value) << "it stands there, under the same token";
}

TEST(decide_adopt_test, asked_again_says_granted_and_writes_nothing) {
  const auto made = decide_adopt(a_lock().held_by(successor), me.hold, me.lease, heir);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_adopt_test, takes_nothing_that_stands_elsewhere_or_not_at_all) {
  const auto adopted = [&](const store::lock_view& view, model::hold_id hold, lease_id from) {
    return decide_adopt(view, hold, from, heir).outcome.result;
  };
  EXPECT_EQ(adopted(a_lock().held_by(me), me.hold, lease_id::random()), what::absent);
  EXPECT_EQ(adopted(a_lock().held_by(me, {}), me.hold, me.lease), what::absent);
  EXPECT_EQ(adopted(a_lock().held_by(first), me.hold, first.lease), what::absent);
}

// The guarded transaction has locked the row of the permit, or relies on the exclusive hold.
TEST(decide_adopt_test, leaves_what_a_guarded_transaction_relies_on) {
  EXPECT_EQ(decide_adopt(a_lock().held_by(me).guarded(), me.hold, me.lease, heir).outcome.result,
            what::guarded);
  EXPECT_EQ(decide_adopt(a_shared_mutex().shared_by(me).guarded(), me.hold, me.lease, heir).outcome.result,
            what::guarded);
  const auto again = decide_adopt(a_lock().held_by(successor).guarded(), me.hold, me.lease, heir);
  EXPECT_EQ(again.outcome.result, what::granted) << "I7";
  const auto moved = client_layer::decide_move(a_shared_mutex().shared_by(me).guarded(), me.hold,
                                               {lease_id::random(), me.client, "host", 1, "", 5s});
  EXPECT_EQ(moved.outcome.result, what::guarded);
  EXPECT_TRUE(moved.change.empty());
}

TEST(decide_reclaim_test, grants_with_a_new_token_before_who_waits_and_notices_the_old_client) {
  const auto made = decide_reclaim(a_lock().held_by(me).queued(first), me.hold, me.lease, heir);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.change.row->hold, heir.hold);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_THAT(made.change.notices, testing::ElementsAre(me.client));
  EXPECT_THAT(made.outcome.next, testing::IsEmpty());
}

TEST(decide_reclaim_test, keeps_the_weight_of_a_permit_and_notices_the_client_of_its_lease) {
  party explicit_ttl = me;
  explicit_ttl.client = first.lease;
  const auto made = decide_reclaim(a_semaphore(5).shared_by(explicit_ttl, 3), me.hold, me.lease, heir);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 9);
  EXPECT_EQ(made.outcome.weight, 3);
  EXPECT_EQ(made.outcome.mode, model::lock_mode::shared);
  EXPECT_THAT(made.change.notices, testing::ElementsAre(first.lease));
}

TEST(decide_reclaim_test, begins_without_data) {
  for (const store::lock_view& view : {store::lock_view(a_semaphore(5).shared_by(me).data("mine")),
                                       store::lock_view(a_lock().held_by(me).data("7 mine"))}) {
    const auto made = decide_reclaim(view, me.hold, me.lease, heir);
    EXPECT_EQ(made.outcome.result, what::granted);
    EXPECT_TRUE(made.change.data.empty());
    EXPECT_FALSE(made.change.value);
  }
}

TEST(decide_reclaim_test, respects_a_guard_and_a_foreign_world_and_is_asked_twice) {
  const auto reclaimed = [&](const store::lock_view& view) {
    return decide_reclaim(view, me.hold, me.lease, heir).outcome.result;
  };
  EXPECT_EQ(reclaimed(a_lock().held_by(me).guarded()), what::guarded);
  EXPECT_EQ(reclaimed(a_lock().held_by(me).foreign()), what::unrecorded_server);
  EXPECT_EQ(reclaimed(a_lock().held_by(successor)), what::granted) << "I7";
  EXPECT_EQ(reclaimed(a_lock().held_by(first)), what::absent);
}

}  // namespace
}  // namespace rowlock::test
