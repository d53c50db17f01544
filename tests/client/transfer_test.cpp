// Holds that go from one process to another: hand_over and adopt, receipt and reclaim.
#include "client/client_test.hpp"

#include "client/lock_views.hpp"

#include <unistd.h>

namespace rowlock::test {
namespace {

using client_layer::decide_adopt;
using client_layer::decide_reclaim;

class transfer_test : public client_test {
 protected:
  client db = new_client(quick_to_renew());
  client other = new_client(quick_to_renew());
};

TEST_P(transfer_test, a_hold_is_adopted_with_its_id_and_token_and_kept) {
  hold held = mutex(db, "a/b").acquire();
  const auto stop = held.stop_token();
  const auto text = held.hand_over(1h);
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::none);
  EXPECT_FALSE(mutex(other, "a/b").try_acquire()) << "nobody else can have it";
  auto taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->name(), "a/b");
  EXPECT_EQ(taken->id(), held.id());
  EXPECT_EQ(taken->token(), held.token());
  const auto renewals = other.stats().renewals;
  ASSERT_TRUE(eventually([&] { return other.stats().renewals > renewals + 1; }));
  EXPECT_TRUE(*taken);
  EXPECT_EQ(held.release(), release_result::released) << "as it was";
  EXPECT_TRUE(is_held("a/b"));
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(taken->release(), release_result::released);
  EXPECT_FALSE(is_held("a/b"));
}

TEST_P(transfer_test, who_waits_does_not_come_in_between) {
  hold held = mutex(db, "a").acquire();
  auto waiter = waiting(other, "a");
  auto taken = adopt(other, held.hand_over(1h));
  ASSERT_TRUE(taken);
  EXPECT_FALSE(waiter.is_over());
  taken->release();
  EXPECT_GT(waiter.take().token(), held.token());
}

TEST_P(transfer_test, one_of_several_adopts) {
  hold held = mutex(db, "a").acquire();
  const auto text = held.hand_over(1h);
  const auto first = adopt(other, text);
  EXPECT_TRUE(first);
  EXPECT_FALSE(adopt(db, text));
  EXPECT_TRUE(is_held("a"));
}

TEST_P(transfer_test, what_nobody_adopts_goes_to_who_comes_next) {
  hold held = mutex(db, "a").acquire();
  const auto text = held.hand_over(1h);
  fixture().expire(lease_of("a"));
  const auto next = mutex(other, "a").try_acquire();
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), held.token());
  EXPECT_FALSE(adopt(db, text));
}

TEST_P(transfer_test, a_hold_with_an_explicit_ttl_ends_that_lease) {
  hold held = mutex(db, "a").acquire({.ttl = 1h});
  const auto own = lease_of("a");
  const auto taken = adopt(other, held.hand_over(1h));
  ASSERT_TRUE(taken);
  EXPECT_TRUE(side().renew(std::vector{own}).renewed.empty());
}

TEST_P(transfer_test, permits_keep_their_weight_and_mode) {
  counting_semaphore slots{db, "s", 5};
  hold three = slots.acquire(3);
  const hold one = slots.acquire(1);
  auto taken = adopt(other, three.hand_over(1h));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->weight(), 3);
  EXPECT_EQ(slots.available(), 1);
  EXPECT_EQ(taken->release(), release_result::released);
  EXPECT_EQ(slots.available(), 4);
}

TEST_P(transfer_test, a_term_goes_on_in_another_process) {
  election here{db, "scheduler"};
  auto office = here.campaign();
  office.proclaim("the first");
  auto adopted = adopt(other, office.hand_over(1h));
  ASSERT_TRUE(adopted);
  term successor{std::move(*adopted)};
  EXPECT_EQ(successor.token(), office.token());
  EXPECT_EQ(here.observe().value, "the first") << "it is the same term";
  successor.proclaim("the second");
  EXPECT_EQ(here.observe().value, "the second");
  EXPECT_EQ(code_of([&] { office.proclaim("still me"); }), errc::hold_lost);
}

TEST_P(transfer_test, what_is_over_cannot_be_handed_over) {
  hold held = mutex(db, "a").acquire();
  held.release();
  EXPECT_EQ(code_of([&] { held.hand_over(1s); }), errc::hold_lost);
  EXPECT_EQ(code_of([&] { hold{}.hand_over(1s); }), errc::hold_lost);
  hold again = mutex(db, "a").acquire();
  again.hand_over(1h);
  EXPECT_EQ(code_of([&] { again.hand_over(1s); }), errc::hold_lost);
}

TEST_P(transfer_test, refuses_impossible_times_and_texts) {
  hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { held.hand_over(99ms); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { held.hand_over(25h); }), errc::invalid_argument);
  EXPECT_TRUE(held);
  const auto receipt = held.receipt();
  for (const std::string& text : {std::string{}, std::string{"x"}, receipt, receipt.substr(0, 60)}) {
    EXPECT_EQ(code_of([&] { adopt(db, text); }), errc::invalid_argument);
  }
  EXPECT_EQ(code_of([&] { reclaim(db, held.hand_over(1h)); }), errc::invalid_argument);
}

TEST_P(transfer_test, a_recursive_hold_is_left_before_it_is_handed_over) {
  recursive_mutex r{db, "r"};
  hold outer = r.acquire();
  hold inner = r.acquire();
  EXPECT_EQ(code_of([&] { inner.hand_over(1h); }), errc::invalid_argument);
  inner.release();
  EXPECT_TRUE(adopt(other, outer.hand_over(1h)));
}

TEST_P(transfer_test, a_restarted_program_reclaims_with_a_new_token_and_before_who_waits) {
  const client dead = new_client(slow_to_renew());  // it does nothing more
  hold held = mutex(dead, "a").acquire();
  auto waiter = waiting(db, "a");
  auto mine = reclaim(other, held.receipt());
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->name(), "a");
  EXPECT_GT(mine->token(), held.token());
  EXPECT_NE(mine->id(), held.id());
  EXPECT_EQ(holder_of("a"), mine->id());
  EXPECT_FALSE(waiter.is_over());
  EXPECT_FALSE(reclaim(db, held.receipt())) << "once";
  mine->release();
  EXPECT_TRUE(waiter.take());
}

TEST_P(transfer_test, who_was_taken_for_dead_is_told) {
  hold held = mutex(db, "a").acquire();
  const auto mine = reclaim(other, held.receipt());
  ASSERT_TRUE(mine);
  ASSERT_TRUE(eventually([&] { return held.loss() != loss::none; }));
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_EQ(holder_of("a"), mine->id());
}

TEST_P(transfer_test, reclaims_a_permit_and_a_readers_hold) {
  shared_mutex catalog{db, "c"};
  const hold reader = catalog.acquire_shared();
  const hold beside = catalog.acquire_shared();
  const auto mine = reclaim(other, reader.receipt());
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->weight(), 1);
  EXPECT_EQ(side().show("c")->row.in_use, 2);
  EXPECT_FALSE(shared_mutex(other, "c").try_acquire());
}

TEST_P(transfer_test, reclaims_nothing_from_the_dead) {
  hold held = mutex(db, "a").acquire();
  const auto receipt = held.receipt();
  EXPECT_FALSE(
      reclaim(other, "rowlock-receipt/1/" + model::id128::random().to_string() + "/" + held.id() + "/a"));
  EXPECT_FALSE(
      reclaim(other, "rowlock-receipt/1/" + model::id128::random().to_string() + "/" + held.id() + "/none"));
  held.release();
  EXPECT_FALSE(reclaim(other, receipt));
}

TEST_P(transfer_test, reclaims_nothing_from_a_process_of_this_machine_that_lives) {
  const hold known = mutex(db, "known").acquire();
  auto record = side().show("known")->holders.front().lease;
  record.id = record.client = model::lease_id::random();
  record.pid = ::getppid();
  side().create_lease(record);
  const model::lock_definition lock{"a"};
  side().create({&lock, 1});
  const auto its = model::hold_id::random();
  const store::acquire_request request{"a", model::lock_kind::mutex, 1, record.id, its};
  ASSERT_EQ(side().acquire({&request, 1}).size(), 1U);
  const auto receipt = "rowlock-receipt/1/" + record.id.to_string() + "/" + its.to_string() + "/a";
  EXPECT_EQ(code_of([&] { reclaim(other, receipt); }), errc::contention);
}

ROWLOCK_FOR_EACH_STORE(transfer_test);

class transfer_doubt_test : public virtual_client_test {
 protected:
  client db = new_client();
  client other = new_client();
};

TEST_F(transfer_doubt_test, an_adoption_whose_answer_was_lost_is_asked_again) {
  const auto text = mutex(db, "a").acquire().hand_over(1h);
  faults.lose_answer("edit");
  const auto taken = adopt(other, text);
  ASSERT_TRUE(taken);
  EXPECT_EQ(holder_of("a"), taken->id());
}

TEST_F(transfer_doubt_test, a_hand_over_whose_answer_was_lost_gives_the_lock_back) {
  hold held = mutex(db, "a").acquire();
  faults.lose_answer("edit");
  EXPECT_EQ(code_of([&] { held.hand_over(1h); }), errc::unreachable);
  EXPECT_FALSE(held);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

const party me;
const party first;
const auto onto = lease_id::random();

TEST(decide_adopt_test, moves_the_hold_and_ends_the_lease_that_it_stood_on) {
  const auto made = decide_adopt(a_lock().held_by(me).queued(first), me.hold, me.lease, onto);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_EQ(made.change.row->lease, onto);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_THAT(made.change.end_leases, testing::ElementsAre(me.lease));
  EXPECT_FALSE(made.change.granted_now);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_adopt_test, asked_again_says_granted_and_writes_nothing) {
  const auto made = decide_adopt(a_lock().held_by(me), me.hold, lease_id::random(), me.lease);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_adopt_test, takes_nothing_that_stands_elsewhere_or_not_at_all) {
  EXPECT_EQ(decide_adopt(a_lock().held_by(me), me.hold, lease_id::random(), onto).outcome.result,
            what::absent);
  EXPECT_EQ(decide_adopt(a_lock().held_by(me, {}), me.hold, me.lease, onto).outcome.result, what::absent);
  EXPECT_EQ(decide_adopt(a_lock().held_by(first), me.hold, first.lease, onto).outcome.result, what::absent);
}

// The guard's transaction holds the row of the permit, or relies on the exclusive hold.
TEST(decide_adopt_test, leaves_what_a_guarded_transaction_relies_on) {
  EXPECT_EQ(decide_adopt(a_lock().held_by(me).guarded(), me.hold, me.lease, onto).outcome.result,
            what::guarded);
  EXPECT_EQ(decide_adopt(a_shared_mutex().shared_by(me).guarded(), me.hold, me.lease, onto).outcome.result,
            what::guarded);
  const auto there = decide_adopt(a_lock().held_by(me).guarded(), me.hold, me.lease, me.lease);
  EXPECT_EQ(there.outcome.result, what::granted) << "I7";
  const auto moved = client_layer::decide_move(a_shared_mutex().shared_by(me).guarded(), me.hold,
                                               {onto, me.client, "host", 1, "", 5s});
  EXPECT_EQ(moved.outcome.result, what::guarded);
  EXPECT_TRUE(moved.change.empty());
}

TEST(decide_reclaim_test, grants_with_a_new_token_before_who_waits_and_notices_the_old_client) {
  const party heir;
  const auto made =
      decide_reclaim(a_lock().held_by(me).queued(first), me.hold, me.lease, {0, heir.hold, heir.lease});
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.change.row->hold, heir.hold);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_THAT(made.change.notices, testing::ElementsAre(me.client));
  EXPECT_THAT(made.outcome.next, testing::IsEmpty());
}

TEST(decide_reclaim_test, keeps_the_weight_of_a_permit_and_notices_the_client_of_its_lease) {
  const party heir;
  party explicit_ttl = me;
  explicit_ttl.client = first.lease;
  const auto made = decide_reclaim(a_semaphore(5).shared_by(explicit_ttl, 3), me.hold, me.lease,
                                   {0, heir.hold, heir.lease});
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 9);
  EXPECT_EQ(made.outcome.weight, 3);
  EXPECT_EQ(made.outcome.mode, model::lock_mode::shared);
  EXPECT_THAT(made.change.notices, testing::ElementsAre(first.lease));
}

TEST(decide_reclaim_test, respects_a_guard_and_a_foreign_world_and_is_asked_twice) {
  const party heir;
  const auto reclaimed = [&](const store::lock_view& view) {
    return decide_reclaim(view, me.hold, me.lease, {0, heir.hold, heir.lease}).outcome.result;
  };
  EXPECT_EQ(reclaimed(a_lock().held_by(me).guarded()), what::guarded);
  EXPECT_EQ(reclaimed(a_lock().held_by(me).foreign()), what::foreign);
  EXPECT_EQ(reclaimed(a_lock().held_by(heir)), what::granted) << "I7";
  EXPECT_EQ(reclaimed(a_lock().held_by(first)), what::absent);
}

}  // namespace
}  // namespace rowlock::test
