// A resting lock is held by nobody: after a loss for its delay, and after a release until its minimum hold
// time is over.
#include "client/client_test.hpp"
#include "primitives/access.hpp"

namespace rowlock::test {
namespace {

class rest_test : public client_test {
 protected:
  // Makes the lease of the hold expire.
  void lose(hold& held) { fixture().expire(lease_of(held.name())); }
  // Ends the rest early.
  void end_rest(const std::string& name) { fixture().expire(lease_of(name)); }
  bool rests(const std::string& name) {
    return is_held(name) && holder_of(name) == model::hold_id{}.to_string();
  }

  client db = new_client(slow_to_renew());
  client other = new_client();
};

TEST_P(rest_test, after_a_loss_nobody_is_granted_before_the_delay_is_over) {
  mutex here{db, "a", {.delay = 1h}};
  hold held = here.acquire();
  lose(held);
  mutex there{other, "a"};
  EXPECT_FALSE(there.try_acquire()) << "the delay is stored: the next caller need not know it";
  ASSERT_TRUE(rests("a"));
  EXPECT_FALSE(there.try_acquire());
  end_rest("a");
  const auto next = there.try_acquire();
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), held.token());
}

TEST_P(rest_test, a_waiter_gets_the_lock_when_the_delay_is_over) {
  hold held = mutex(db, "a", {.delay = 1h}).acquire();
  auto waiter = waiting(other, "a");
  lose(held);
  ASSERT_TRUE(eventually([&] { return rests("a"); }));
  EXPECT_EQ(queued("a"), 1U);
  end_rest("a");
  EXPECT_TRUE(waiter.take());
}

TEST_P(rest_test, of_another_kind_of_lock_is_a_mismatch) {
  hold held = mutex(db, "a", {.delay = 1h}).acquire();
  lose(held);
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  ASSERT_TRUE(rests("a"));
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 2).available(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = latch(other, "a", 2).remaining(); }), errc::mismatch);
}

TEST_P(rest_test, the_successor_may_bring_a_longer_delay) {
  hold held = mutex(db, "a").acquire();
  lose(held);
  EXPECT_FALSE(mutex(other, "a", {.delay = 1h}).try_acquire());
  EXPECT_TRUE(rests("a"));
}

TEST_P(rest_test, a_sweep_lets_it_rest_too) {
  hold held = mutex(db, "a", {.delay = 1h}).acquire();
  lose(held);
  admin{other}.sweep();
  ASSERT_TRUE(rests("a"));
  end_rest("a");
  admin{other}.sweep();
  EXPECT_FALSE(is_held("a")) << "it rests once";
}

TEST_P(rest_test, what_is_released_or_forced_is_free_at_once) {
  mutex here{db, "a", {.delay = 1h}};
  here.acquire().release();
  const hold held = here.acquire();
  ASSERT_TRUE(admin{other}.release("a"));
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

TEST_P(rest_test, force_ends_a_rest) {
  hold held = mutex(db, "a", {.delay = 1h}).acquire();
  lose(held);
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  EXPECT_TRUE(admin{other}.release("a"));
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

TEST_P(rest_test, its_id_of_zeros_takes_the_lock_from_nobody) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { admin{other}.release("a", hold_id{}); }), errc::invalid_argument);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_P(rest_test, nobody_leads_while_an_office_rests) {
  election here{db, "a", {.delay = 1h}};
  const auto office = here.campaign();
  fixture().expire(lease_of("a"));
  election there{other, "a"};
  EXPECT_FALSE(there.try_campaign());
  EXPECT_FALSE(there.observe().led);
}

TEST_P(rest_test, a_minimum_hold_outlasts_an_early_release) {
  mutex here{db, "a"};
  hold held = here.acquire({.min_hold = 1h});
  EXPECT_EQ(held.release(), release_result::released) << "and does not wait";
  EXPECT_FALSE(held);
  EXPECT_EQ(held.release(), release_result::released);
  ASSERT_TRUE(rests("a"));
  EXPECT_FALSE(here.try_acquire());
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  end_rest("a");
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

TEST_P(rest_test, a_minimum_hold_that_is_over_changes_nothing) {
  hold held = mutex(db, "a").acquire({.min_hold = 1ms});
  std::this_thread::sleep_for(2ms);  // the time itself is tested here
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(rest_test, a_minimum_hold_outlives_its_client) {
  {
    const client short_lived = new_client();
    hold held = mutex(short_lived, "a").acquire({.min_hold = 1h});
  }
  EXPECT_TRUE(rests("a"));
}

TEST_P(rest_test, a_minimum_hold_of_an_explicit_ttl_ends_that_lease) {
  hold held = mutex(db, "a").acquire({.ttl = 2h, .min_hold = 1h});
  const auto own = lease_of("a");
  EXPECT_EQ(held.release(), release_result::released);
  ASSERT_TRUE(rests("a"));
  EXPECT_NE(lease_of("a"), own);
  EXPECT_TRUE(side().renew(std::vector{own}).renewed.empty());
}

TEST_P(rest_test, permits_rest_as_well) {
  counting_semaphore slots{db, "s", 3};
  hold two = slots.acquire(2, {.min_hold = 1h});
  EXPECT_EQ(two.release(), release_result::released);
  EXPECT_EQ(slots.available(), 1);
  EXPECT_FALSE(slots.try_acquire(2));
  fixture().expire(side().show("s")->holders.front().lease.id);
  EXPECT_TRUE(slots.try_acquire(3));
}

TEST_P(rest_test, impossible_times_are_refused) {
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.min_hold = -1ms}); }),
            errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.min_hold = 25h}); }),
            errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.ttl = 1s, .min_hold = 2s}); }),
            errc::invalid_argument);
  EXPECT_EQ(code_of([&] { mutex(db, "a", {.delay = -1ms}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { mutex(db, "a", {.delay = 25h}); }), errc::invalid_argument);
}

ROWLOCK_FOR_EACH_STORE(rest_test);

using lost_twice_test = virtual_client_test;

// A waiter that has not learned of its grant requests the lock again under the same id, on a lease that was killed
// meanwhile. The rest after the first grant must not shorten the rest after the second.
TEST_F(lost_twice_test, a_lock_rests_after_each_loss_of_a_hold_that_was_granted_twice) {
  const auto row = [&] { return server->snapshot().locks.at("a").row; };
  auto db = new_client();
  auto other = new_client();
  hold before = mutex{other, "a", {.delay = 1h}}.acquire();
  auto waiter = waiting(db, "a");
  // A look that is due would find the grant without a wake-up.
  const auto& agenda = primitives::access::engine(db)->services().agenda;
  ASSERT_TRUE(eventually([&] { return agenda.next_look() > time.now() && !agenda.has_named(); }));
  server->lose_wakeups(1);
  before.release();
  const auto granted = row();
  ASSERT_NE(granted.hold->to_string(), before.id().to_string());

  server->expire(*granted.lease);
  mutex there{other, "a"};
  ASSERT_FALSE(there.try_acquire());
  const auto first_rest = row();
  ASSERT_TRUE(first_rest.hold->is_nil());
  ASSERT_TRUE(admin{other}.release("a"));
  server->expire(*first_rest.lease);

  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  const hold again = waiter.take();
  ASSERT_EQ(again.id(), *granted.hold);
  ASSERT_GT(again.token().value(), granted.token);
  EXPECT_FALSE(there.try_acquire());
  EXPECT_TRUE(row().hold->is_nil());
  EXPECT_NE(row().lease, first_rest.lease) << "I3";
  EXPECT_FALSE(there.try_acquire()) << "the delay begins anew";
}

}  // namespace
}  // namespace rowlock::test
