// Asynchronous waits, where the test decides over time and the database.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <vector>

namespace rowlock::test {
namespace {

class async_clock_test : public virtual_client_test {
 protected:
  async_clock_test() { mutex(db, "a").acquire().release(); }

  void ask(const std::string& name, std::optional<std::chrono::nanoseconds> timeout = {},
           const acquire_options& how = {}) {
    const auto done = [this](acquired one) { got.push_back(std::move(one)); };
    const mutex lock{db, name};
    timeout ? try_acquire_async(by_hand.get(), lock, *timeout, done, how)
            : acquire_async(by_hand.get(), lock, done, how);
  }
  bool told_soon(std::size_t count) {
    return soon([&] {
      while (by_hand.size() > 0) by_hand.run_next();
      return got.size() >= count;
    });
  }

  hand_executor by_hand;
  std::vector<acquired> got;
  client db = new_client();
};

TEST_F(async_clock_test, each_time_is_up_when_it_is_and_not_before) {
  const client other = new_client();
  const hold held = mutex(other, "a").acquire();
  // Each request has a shorter limit than the one before it, so the latest one ends first.
  for (const auto timeout : {6s, 4s, 2s}) ask("a", timeout);
  ask("a");
  ASSERT_TRUE(eventually([&] { return queued("a") == 4; }));
  for (const std::size_t over : {1U, 2U, 3U}) {
    // When this hold ends, the watchdog has looked at all deadlines.
    const hold witness = mutex(db, "w").acquire({.ttl = 1s});
    advance(1990ms);
    ASSERT_TRUE(eventually([&] { return db.stats().lost == over; }));
    EXPECT_EQ(by_hand.size(), 0U);
    advance(10ms);
    ASSERT_TRUE(eventually([&] { return by_hand.size() > 0; }));
    by_hand.run_next();
    EXPECT_EQ(got.size(), over);
    EXPECT_TRUE(eventually([&] { return queued("a") == 4 - over; }));
  }
  for (const auto& one : got) EXPECT_FALSE(one || one.failure);
}

TEST_F(async_clock_test, a_short_time_is_up_when_it_is) {
  const client other = new_client();
  const hold held = mutex(other, "a").acquire();
  let_the_watchdog_sleep();
  ask("a", 50ms);
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  advance(49ms);
  virtual_time::let_others_sleep();
  EXPECT_EQ(by_hand.size(), 0U);
  advance(1ms);
  EXPECT_TRUE(eventually([&] { return by_hand.size() == 1; }));
}

TEST_F(async_clock_test, an_attempt_hears_that_the_database_gives_no_answer) {
  // Each attempt lasts until its statement's timeout, and is then repeated.
  faults.hang("acquire");
  for (int i = 0; i < 8; ++i) faults.hang("edit");
  ask("a", 0s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  ASSERT_TRUE(eventually([&] {
    advance(20ms);
    return by_hand.size() == 1;
  }));
  by_hand.run_next();
  faults.forget();
  ASSERT_TRUE(got.front().failure);
  EXPECT_EQ(got.front().failure->code(), errc::unreachable);
  server->unblock();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(async_clock_test, a_grant_that_comes_after_the_stop_is_given_back) {
  for (const bool before : {true, false}) {
    got.clear();
    before ? faults.hang("acquire") : faults.hang_answer("acquire");
    std::stop_source stop;
    ask("a", {}, {.stop = stop.get_token()});
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    stop.request_stop();
    ASSERT_TRUE(told_soon(1));
    ASSERT_TRUE(got.front().failure);
    EXPECT_EQ(got.front().failure->code(), errc::cancelled);
    const auto acquires = db.stats().statements;
    server->unblock();
    EXPECT_TRUE(soon([&] { return db.stats().statements > acquires && holder_of("a").empty(); }));
  }
}

TEST_F(async_clock_test, an_explicit_ttl_ends_a_hold_also_before_anybody_goes_on) {
  ask("a", {}, {.ttl = 2s});
  ask("b", {}, {.ttl = 20s});
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 2; }));
  advance(3s);
  EXPECT_TRUE(eventually([&] { return db.stats().lost == 1; }));
  ASSERT_TRUE(told_soon(2));
  int expired = 0;
  for (const auto& one : got) {
    ASSERT_FALSE(one.failure);
    if (one.hold.loss() == loss::expired) ++expired;
  }
  EXPECT_EQ(expired, 1);
}

TEST_F(async_clock_test, waits_through_an_outage_and_a_lost_lease) {
  const client other = new_client();
  auto held = std::make_optional(mutex(other, "a").acquire());
  ask("a");
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  faults.cut(true);
  advance(40s);
  faults.cut(false);
  held.reset();
  ASSERT_TRUE(told_soon(1));
  ASSERT_TRUE(got.front());
  EXPECT_TRUE(got.front().hold.valid());
  EXPECT_EQ(got.front().hold.id().to_string(), holder_of("a"));
}

TEST_F(async_clock_test, is_told_of_the_close_also_when_the_database_hangs) {
  db = new_impatient_client();
  faults.hang("acquire");
  ask("a");
  close_while_the_database_hangs(db, [&] { return told_soon(1); });
  ASSERT_TRUE(got.front().failure);
  EXPECT_EQ(got.front().failure->code(), errc::closed);
}

}  // namespace
}  // namespace rowlock::test
