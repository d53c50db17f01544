// Acquires with an explicit ttl: the hold has a lease that nobody renews.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class explicit_ttl_test : public client_test {
 protected:
  client db = new_client();
};

TEST_P(explicit_ttl_test, has_a_lease_of_its_own_that_ends_with_it) {
  mutex a{db, "a"};
  hold plain = mutex(db, "b").acquire();
  hold held = a.acquire({.ttl = 5s});
  const auto lease = lease_of("a");
  EXPECT_NE(lease, lease_of("b"));
  EXPECT_LE(held.remaining(), 5s);
  EXPECT_GT(held.remaining(), 0s);
  EXPECT_EQ(side().show("a")->holders.front().lease.client, lease_of("b")) << "notices go to its process";
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_FALSE(is_held("a"));
  EXPECT_TRUE(side().renew(std::vector{lease}).renewed.empty()) << "the lease has gone with it";
}

TEST_P(explicit_ttl_test, is_lost_at_its_end_and_can_be_taken_by_others) {
  const hold held = mutex(db, "a").acquire({.ttl = 300ms});
  EXPECT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
  EXPECT_EQ(held.loss(), loss::expired);
  EXPECT_FALSE(held);
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(explicit_ttl_test, a_waiter_with_a_ttl_gets_it_from_its_grant_on) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  attempt waiter{db, "a", 24h};
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  const auto process_lease = side().queue("a").front().waiter.lease;
  EXPECT_EQ(process_lease, lease_of("a")) << "it waits on the lease of its process";
  held.reset();
  const hold got = waiter.take();
  EXPECT_GT(got.remaining(), 23h);
  EXPECT_NE(lease_of("a"), process_lease);
  EXPECT_EQ(got.token(), token_of("a"));
}

TEST_P(explicit_ttl_test, outside_of_its_bounds_is_refused) {
  mutex a{db, "a"};
  for (const auto ttl : {-1ms, 1ms, 99ms, std::chrono::milliseconds{24h} + 1ms}) {
    EXPECT_EQ(code_of([&] { std::ignore = a.acquire({.ttl = ttl}); }), errc::invalid_argument) << ttl.count();
    EXPECT_EQ(code_of([&] { std::ignore = a.try_acquire({.ttl = ttl}); }), errc::invalid_argument)
        << ttl.count();
  }
  EXPECT_FALSE(side().show("a"));
}

ROWLOCK_FOR_EACH_STORE(explicit_ttl_test);

class explicit_ttl_clock_test : public virtual_client_test {};

TEST_F(explicit_ttl_clock_test, is_not_renewed) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire({.ttl = 35s});
  const auto before = held.remaining();
  pass_renewals(db, 3);
  EXPECT_EQ(held.remaining(), before - 30s);
  advance(6s);
  EXPECT_EQ(held.remaining(), 0s);
  EXPECT_FALSE(held);
  EXPECT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
}

TEST_F(explicit_ttl_clock_test, ends_here_before_the_database_lets_others_in) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire({.ttl = 10s});
  advance(9s);
  EXPECT_FALSE(held) << "the margin is 1 s and a thousandth of the ttl";
  client other = new_client();
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  advance(1s);
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

TEST_F(explicit_ttl_clock_test, costs_one_edit_for_a_free_lock) {
  client db = new_client();
  mutex a{db, "a"};
  a.acquire().release();
  const auto statements = [&] {
    std::vector<int> counts;
    for (const auto* verb : {"edit", "find", "acquire", "enqueue"}) counts.push_back(faults.count(verb));
    return counts;
  };
  const auto before = statements();
  hold held = a.acquire({.ttl = 5s});
  EXPECT_EQ(statements(), (std::vector{before[0] + 1, before[1], before[2], before[3]}));
  held.release();
  const auto again = statements();
  held = a.try_acquire({.ttl = 5s});
  EXPECT_TRUE(held);
  EXPECT_EQ(statements(), (std::vector{again[0] + 1, again[1] + 1, again[2], again[3]}));
  EXPECT_FALSE(a.try_acquire({.ttl = 5s}));
  EXPECT_EQ(statements(), (std::vector{again[0] + 1, again[1] + 2, again[2], again[3]}));
}

TEST_F(explicit_ttl_clock_test, a_release_that_nobody_waits_for_is_one_statement_that_ends_its_lease) {
  client db = new_client();
  hold held = mutex(db, "a").acquire({.ttl = 5s});
  auto edits = faults.count("edit");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(faults.count("edit"), edits);
  EXPECT_EQ(leases(), 1U);
  held = mutex(db, "a").acquire({.ttl = 5s});
  auto waiter = waiting(db, "a");
  edits = faults.count("edit");
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(faults.count("hand_over"), 0) << "it would leave the lease";
  EXPECT_EQ(faults.count("edit"), edits + 1);
  EXPECT_EQ(leases(), 1U);
  EXPECT_TRUE(waiter.take());
}

TEST_F(explicit_ttl_clock_test, a_hand_over_moves_in_one_edit_and_counts_from_there) {
  client db = new_client();
  auto held = std::make_optional(mutex(db, "a").acquire());
  attempt waiter{db, "a", 20s};
  ASSERT_TRUE(eventually([&] { return queued("a") == 1 && knows_places(db); }));
  advance(5s);
  const auto edits = faults.count("edit");
  faults.hang("edit");
  held.reset();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_EQ(faults.count("hand_over"), 1);
  advance(4s);
  server->unblock();
  const hold got = waiter.take();
  EXPECT_LE(got.remaining(), 15s);
  EXPECT_GT(got.remaining(), 14s);
  EXPECT_EQ(faults.count("edit"), edits + 1);
  EXPECT_EQ(leases(), 2U);
}

TEST_F(explicit_ttl_clock_test, its_time_begins_before_the_grant_was_sent) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  faults.hang("edit");
  attempt taken{db, "a", 20s};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(4s);
  server->unblock();
  const hold held = taken.take();
  EXPECT_LE(held.remaining(), 15s);
}

TEST_F(explicit_ttl_clock_test, a_short_one_is_told_of_its_end_however_it_was_acquired) {
  hand_executor by_hand;
  client db = new_client();
  mutex a{db, "a"};
  const mutex b{db, "b"};
  a.acquire().release();
  const acquire_options how{.ttl = 100ms};
  acquire_options and_searches = how;
  and_searches.detect_deadlock = true;
  hold held;
  hold_set all;
  const std::vector<std::function<void()>> calls{
      [&] { held = a.acquire(how); },
      [&] { held = a.acquire(and_searches); },
      [&] {
        all = acquire_all({a, b}, how);
      },
      [&] {
        acquire_async(
            by_hand.get(), a, [&](acquired got) { held = std::move(got.hold); }, how);
        by_hand.run_one();
      },
  };
  for (const auto& call : calls) {
    const auto lost = db.stats().lost;
    let_the_watchdog_sleep();
    call();
    EXPECT_EQ(db.stats().lost, lost);
    advance(75ms);  // the rest is the margin
    EXPECT_TRUE(eventually([&] { return db.stats().lost > lost; }));
    held = {};
    all = {};
  }
}

TEST_F(explicit_ttl_clock_test, a_lost_answer_is_one_grant) {
  client db = new_client();
  mutex a{db, "a"};
  for (const bool waits : {true, false}) {
    a.acquire().release();
    const auto token = server->snapshot().locks.at("a").row.token;
    faults.lose_answer("edit");
    auto asked = in_background([&] { return waits ? a.acquire({.ttl = 20s}) : a.try_acquire({.ttl = 20s}); });
    ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    hold held = asked.get();
    ASSERT_TRUE(held);
    EXPECT_EQ(held.token().value(), token + 1) << "it was granted once";
    EXPECT_EQ(holder_of("a"), held.id().to_string());
    EXPECT_EQ(leases(), 2U) << "the client's and the hold's";
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(leases(), 1U);
  }
}

TEST_F(explicit_ttl_clock_test, who_gives_up_while_the_answer_is_missing_leaves_nothing) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  for (const bool is_lost : {false, true}) {
    faults.hang_answer("edit");
    attempt taken{db, "a", 1h};
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    EXPECT_FALSE(holder_of("a").empty());
    EXPECT_EQ(leases(), 2U);
    taken.stop();
    EXPECT_EQ(code_of([&] { std::ignore = taken.take(); }), errc::cancelled);
    if (is_lost) {
      faults.cut(true);
      server->unblock();
      faults.cut(false);
    } else {
      server->unblock();
    }
    EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
    EXPECT_TRUE(soon([&] { return leases() == 1; })) << "its lease has gone with it";
  }
}

TEST_F(explicit_ttl_clock_test, an_answer_that_comes_after_its_end_is_no_grant) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  faults.hang_answer("edit");
  attempt taken{db, "a", 1s};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto first = holder_of("a");
  advance(1s);
  server->unblock();
  EXPECT_NE(taken.take().id().to_string(), first) << "it was acquired again";
}

// The grant has happened and its answer is lost, and so is the client's lease. Nothing else would end the hold for an
// hour.
class explicit_ttl_doubt_test : public virtual_client_test {
 protected:
  explicit_ttl_doubt_test() { mutex(db, "a").acquire().release(); }

  void grant_without_an_answer() {
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    first = holder_of("a");
    ASSERT_FALSE(first.empty());
    faults.cut(true);
    advance(31s);
    ASSERT_TRUE(soon([&] { return server->blocked() == 0; })) << "the client has given the statement up";
  }

  client db = new_client();
  std::string first;
};

TEST_F(explicit_ttl_doubt_test, who_waits_gets_the_lock_on_the_next_lease) {
  faults.hang_answer("edit");
  attempt taken{db, "a", 1h};
  grant_without_an_answer();
  const auto began = time.now();
  faults.cut(false);
  ASSERT_TRUE(soon([&] { return taken.is_over(); }));
  EXPECT_LT(time.now() - began, 1min);
  const hold held = taken.take();
  EXPECT_TRUE(held);
  EXPECT_NE(held.id().to_string(), first);
  EXPECT_EQ(leases(), 2U) << "the client's and the hold's";
}

TEST_F(explicit_ttl_doubt_test, who_does_not_wait_leaves_nothing) {
  faults.hang_answer("edit");
  auto tried =
      in_background([&] { return code_of([&] { std::ignore = mutex(db, "a").try_acquire({.ttl = 1h}); }); });
  grant_without_an_answer();
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(tried.get(), errc::unreachable);
  const auto began = time.now();
  faults.cut(false);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  EXPECT_LT(time.now() - began, 1min);
}

TEST_F(explicit_ttl_doubt_test, a_close_leaves_nothing) {
  auto settings = calm();
  settings.close_timeout = 5min;
  client closing = new_client(settings);
  faults.hang_answer("edit");
  auto taken =
      in_background([&] { return code_of([&] { std::ignore = mutex(closing, "a").acquire({.ttl = 1h}); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto closed = in_background([&] { closing.close(); });
  ASSERT_TRUE(soon([&] { return taken.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(taken.get(), errc::closed);
  server->unblock();
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

}  // namespace
}  // namespace rowlock::test
