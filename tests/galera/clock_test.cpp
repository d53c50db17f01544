#include "galera_test.hpp"

namespace rowlock::test {

namespace {

constexpr auto ttl = 6s;
constexpr auto ahead = ttl + 2s;

// The third node's clock is ahead of the others'.
class clock_test : public galera_test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(galera_test::SetUp());
    ASSERT_TRUE(nodes().has_clock()) << "libfaketime is not installed; run scripts/setup";
    nodes().set_clock("+" + std::to_string(ahead.count()));
  }
  worker_settings with(int node, std::chrono::milliseconds skew) const {
    auto made = settings(node);
    made.ttl = ttl;
    made.statement_timeout = 1s;
    made.skew = skew;
    return made;
  }
};

TEST_F(clock_test, that_is_ahead_by_less_than_the_skew_takes_no_lock_from_a_living_holder) {
  const auto skew = ahead + 1s;
  worker holder{with(1, skew)};
  worker waiter{with(3, skew)};
  const auto before = holder.acquire("nightly");
  waiter.tell("acquire nightly");
  until_queued(1);
  // The wait is longer than a takeover from a dead holder would be without the skew.
  EXPECT_EQ(worker{with(3, skew)}.ask("try_for nightly " + std::to_string((ttl + 500ms).count())), "busy");
  EXPECT_TRUE(waiter.is_silent());
  EXPECT_EQ(holder.ask("state"), "valid none");
  holder.kill();
  EXPECT_GT(waiter.grant(ttl + skew + slack).token, before.token);
  EXPECT_EQ(waiter.ask("release"), "released");
}

// Beyond the skew two clients may believe that they hold the lock. The guard still protects the data.
TEST_F(clock_test, that_is_ahead_by_more_than_the_skew_cannot_harm_what_is_guarded) {
  const auto session = sql(1);
  ledger book{*session, "rowlock_"};
  book.create({"nightly"});
  worker holder{with(1, 0s)};
  worker rival{with(3, 0s)};
  const auto before = holder.acquire("nightly");
  EXPECT_EQ(holder.ask("write"), "written");
  rival.tell("acquire nightly");
  const auto after = rival.grant(10s);
  EXPECT_GT(after.token, before.token);
  // Until the node knows, the write fails at its commit (1213).
  until("the holder's node knows of the rival",
        [&] { return number("SELECT token FROM rowlock_lock WHERE name = 'nightly'", 1) == after.token; });
  const auto refused = holder.ask("write");
  EXPECT_TRUE(refused.starts_with("error hold_lost")) << refused;
  EXPECT_EQ(rival.ask("write"), "written");
  const auto found = check(*session);
  EXPECT_EQ(found.counted, 2);
  EXPECT_EQ(found.token_faults, 0);
}

}  // namespace

}  // namespace rowlock::test
