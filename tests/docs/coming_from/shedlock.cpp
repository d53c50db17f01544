// The rows of docs/coming-from/shedlock.md.
#include "docs/coming_from/coming_from.hpp"

namespace rowlock::test {

TEST_P(coming_from_test, shedlock_skips_what_another_one_runs) {
  rowlock::mutex nightly{db, "nightly"};
  rowlock::mutex elsewhere{other, "nightly"};
  int runs = 0;
  const auto task = [&] {
    ++runs;
    EXPECT_FALSE(elsewhere.try_acquire());
  };
  if (auto held = nightly.try_acquire()) task();
  EXPECT_EQ(runs, 1);
  const auto busy = elsewhere.acquire();
  if (auto held = nightly.try_acquire()) task();
  EXPECT_EQ(runs, 1);
}

TEST_P(coming_from_test, shedlock_lock_times) {
  rowlock::mutex nightly{db, "nightly"};
  {
    auto held = nightly.try_acquire({.ttl = 10min});
    EXPECT_GT(held.remaining(), 9min);
    auto left = held.remaining();
    EXPECT_LE(left, 10min);
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
  }
  {
    auto held = nightly.try_acquire();
    bool locked = held.valid();
    EXPECT_TRUE(locked);
    rowlock::fencing_token token = held.token();
    EXPECT_GT(token, rowlock::fencing_token{});
    const auto before = db.stats().renewals;
    eventually("it is renewed", [&] { return db.stats().renewals > before; });
    EXPECT_TRUE(held);
  }
  {
    auto held = nightly.try_acquire({.ttl = 10min, .min_hold = 5min});
    EXPECT_TRUE(held);
  }
  EXPECT_FALSE(nightly.try_acquire()) << "five minutes have not passed";
  rowlock::mutex hourly{db, "hourly"};
  {
    auto held = hourly.try_acquire({.min_hold = 5min});
    EXPECT_TRUE(held);
  }
  EXPECT_FALSE(hourly.try_acquire());
}

TEST_P(coming_from_sql_test, shedlock_set_up) {
  EXPECT_EQ(shell("rowlock migrate up").exit_code, 0);
  rowlock::options settings;
  const std::string prefix = store->options().prefix;
  settings.prefix = prefix;
  rowlock::client locks = rowlock::connect(url, settings);
  EXPECT_TRUE(rowlock::mutex(locks, "nightly").try_acquire());
}

TEST_P(coming_from_sql_test, shedlock_from_a_shell) {
  EXPECT_EQ(shell("rowlock run nightly --no-wait --min-hold 5m -- ./work").out, "working\n");
  const auto busy = shell("rowlock run nightly --no-wait --min-hold 5m -- ./work");
  EXPECT_EQ(busy.exit_code, 75);
  EXPECT_EQ(busy.out, "");
  EXPECT_THAT(shell("rowlock show nightly").out, testing::HasSubstr("nightly"));
  EXPECT_EQ(shell("rowlock release nightly --force").exit_code, 0);
}

}  // namespace rowlock::test
