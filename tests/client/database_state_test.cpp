// How a holder learns of forced releases, crashes and fail-overs.
#include "client/client_test.hpp"

namespace rowlock::test {
namespace {

class database_state_test : public client_test {};

TEST_P(database_state_test, on_another_server_tokens_begin_above_all_earlier_ones) {
  const client db = new_client();
  hold before = mutex(db, "a").acquire();
  const auto epoch = admin{db}.epoch();
  fixture().change_identity();
  const hold other = mutex(db, "b").acquire();
  EXPECT_GT(admin{db}.epoch(), epoch);
  EXPECT_GE(other.token().value(), model::epoch_floor(epoch + 1));
  const auto last = before.token().value();
  before.release();
  EXPECT_GE(mutex(db, "a").acquire().token().value(), std::max(last + 1, model::epoch_floor(epoch + 1)));
}

TEST_P(database_state_test, holds_that_are_still_there_are_kept) {
  const client db = new_client(quick_to_renew());
  const hold held = mutex(db, "a").acquire();
  fixture().change_identity();
  fixture().lose_marker();
  const auto renewals = db.stats().renewals;
  ASSERT_TRUE(eventually([&] { return db.stats().renewals >= renewals + 2; }));
  EXPECT_TRUE(held);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_P(database_state_test, a_hold_that_vanished_with_the_marker_is_gone) {
  const client db = new_client(quick_to_renew());
  const hold lost = mutex(db, "a").acquire();
  const hold kept = mutex(db, "b").acquire();
  // The state after a fail-over that lost the last commits: the lock's row is an older one, and the lease exists.
  ASSERT_EQ(side()
                .release(std::vector<store::release_item>{{"a", lease_of("a"), model::hold_id{lost.id()}}},
                         store::durability::durable)
                .size(),
            1U);
  fixture().lose_marker();
  ASSERT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::gone);
  EXPECT_TRUE(kept);
}

TEST_P(database_state_test, a_forced_release_is_noticed_with_the_next_renewal_at_the_latest) {
  const client db = new_client(quick_to_renew());
  const hold lost = mutex(db, "a").acquire();
  const hold kept = mutex(db, "b").acquire();
  ASSERT_TRUE(admin{new_client()}.release("a"));
  ASSERT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::forced);
  EXPECT_TRUE(kept);
  EXPECT_EQ(db.stats().lost, 1U);
  EXPECT_EQ(db.stats().lost_forced, 1U);
}

TEST_P(database_state_test, a_forced_release_of_an_explicit_ttl_reaches_its_process) {
  const client db = new_client(quick_to_renew());
  const hold lost = mutex(db, "a").acquire({.ttl = 1h});
  ASSERT_TRUE(admin{new_client()}.release("a"));
  ASSERT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::forced);
}

ROWLOCK_FOR_EACH_STORE(database_state_test);

class fail_over_test : public virtual_client_test {
 protected:
  client db = new_client();
};

TEST_F(fail_over_test, that_lost_commits_loses_their_holds_and_no_others) {
  server->keep_history();
  const hold kept = mutex(db, "a").acquire();
  mutex(db, "b").acquire().release();
  pass_renewals(db);
  const hold lost = mutex(db, "b").acquire();
  server->fail_over("memory/2", 1);
  ASSERT_EQ(holder_of("b"), "") << "the new server does not know it";
  advance(10s);
  ASSERT_TRUE(soon([&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::gone);
  EXPECT_TRUE(kept);
  EXPECT_EQ(holder_of("a"), kept.id().to_string());
  attempt asked{db, "b"};
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_GT(asked.take().token(), lost.token());
}

// The hold stands again on its client's lease, which is renewed, so only this client can notice that the hold is an
// orphan.
TEST_F(fail_over_test, that_lost_the_move_to_a_lease_of_its_own_loses_the_hold_and_frees_the_lock) {
  server->keep_history();
  const hold kept = mutex(db, "a").acquire();
  hold first = mutex(db, "b").acquire();
  attempt waiter{db, "b", 1h};
  ASSERT_TRUE(eventually([&] { return queued("b") == 1 && knows_places(db); }));
  first.release();
  const hold lost = waiter.take();
  server->fail_over("memory/2", 1);
  ASSERT_EQ(holder_of("b"), lost.id().to_string());
  pass_renewals(db);
  ASSERT_TRUE(soon([&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::gone);
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_TRUE(kept);
}

// The release and the end of the lease are one asynchronous commit. Without the second release the hold would stand for
// an hour.
TEST_F(fail_over_test, that_lost_the_release_of_an_explicit_ttl_is_made_good) {
  server->keep_history();
  hold held = mutex(db, "a").acquire({.ttl = 1h});
  const auto edits = faults.count("edit");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(faults.count("edit"), edits) << "one statement";
  EXPECT_EQ(leases(), 1U);
  server->fail_over("memory/2", 1);
  ASSERT_FALSE(holder_of("a").empty());
  ASSERT_EQ(leases(), 2U) << "the lease is back, and the hold with it";
  pass_renewals(db);
  EXPECT_TRUE(soon([&] { return leases() == 1; }));
  EXPECT_TRUE(holder_of("a").empty());
}

TEST_F(fail_over_test, hands_nothing_over_with_an_old_epochs_token) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto before = held->token().value();
  client other = new_client();
  auto next = waiting(other, "a");
  server->change_identity("memory/2");
  held.reset();
  ASSERT_TRUE(soon([&] { return next.is_over(); }));
  EXPECT_GT(next.take().token().value(), before + model::epoch_floor(1) / 2);
}

TEST_F(fail_over_test, a_waiter_is_granted_on_the_new_server) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto last = held->token().value();
  client other = new_client();
  auto waiter = waiting(other, "a");
  server->change_identity("memory/2");
  held.reset();
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_GE(waiter.take().token().value(), last + 1);
  EXPECT_EQ(server->snapshot().recorded_identity, "memory/2");
}

TEST_F(fail_over_test, lengthens_leases_so_that_a_clock_that_is_ahead_kills_nobody) {
  const hold held = mutex(db, "a").acquire();
  server->fail_over("memory/2");
  server->advance(29s);  // the new server's clock
  client other = new_client();
  // The other client's first lease makes it read the database state again.
  const hold elsewhere = mutex(other, "b").acquire();
  server->advance(5s);
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  EXPECT_TRUE(held);
}

TEST_F(fail_over_test, to_a_clock_that_is_ahead_by_more_than_the_ttl_loses_no_hold) {
  const hold held = mutex(db, "a").acquire();
  server->fail_over("memory/2");
  server->advance(31s);  // the new server's clock
  pass_renewals(db);
  EXPECT_EQ(server->snapshot().recorded_identity, "memory/2");
  EXPECT_FALSE(mutex(new_client(), "a").try_acquire());
  EXPECT_TRUE(held);
  EXPECT_EQ(db.stats().lost, 0U);
}

}  // namespace
}  // namespace rowlock::test
