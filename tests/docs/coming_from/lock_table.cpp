// The rows of docs/coming-from/lock-table.md.
#include "docs/coming_from/coming_from.hpp"

namespace rowlock::test {

TEST_P(coming_from_test, lock_table_rows_that_one_writes_oneself) {
  rowlock::options settings;
  settings.application = "billing";
  settings.ttl = 30s;
  const auto mine = new_client(settings);
  rowlock::mutex report{mine, "report"};
  rowlock::mutex elsewhere{other, "report"};
  {
    auto held = report.try_acquire();
    EXPECT_TRUE(held);
    EXPECT_FALSE(elsewhere.try_acquire());
    rowlock::hold_id owner = held.id();
    held.set_data("deploy 4711");
    rowlock::fencing_token version = held.token();
    auto info = rowlock::admin{other}.show("report");
    EXPECT_EQ(info->holders.at(0).hold_id, owner);
    EXPECT_EQ(info->holders.at(0).token, version);
    EXPECT_EQ(info->holders.at(0).application, "billing");
    EXPECT_EQ(info->holders.at(0).data, "deploy 4711");
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
  }
  {
    auto held = report.acquire();
    EXPECT_LE(held.remaining(), 30s);
    with_a_waiter("report", [&] {
      auto waiters = rowlock::admin{mine}.queue("report");
      EXPECT_EQ(waiters.size(), 1U);
    });
  }
  {
    auto held = report.try_acquire_for(5s);
    EXPECT_TRUE(held);
  }
  {
    auto held = report.try_acquire({.ttl = 10min});
    EXPECT_GT(held.remaining(), 9min);
    EXPECT_TRUE(rowlock::mutex(other, "tenant/7").try_acquire()) << "another name";
  }
  store->age("report", 721h);
  rowlock::admin{mine}.collect(720h);
  EXPECT_FALSE(rowlock::admin{mine}.show("report"));
}

TEST_P(coming_from_sql_test, lock_table_upkeep) {
  EXPECT_EQ(shell("rowlock migrate up").exit_code, 0);
  const auto held = rowlock::mutex(db, "report").acquire();
  EXPECT_THAT(shell("rowlock list").out, testing::HasSubstr("report"));
  EXPECT_EQ(shell("rowlock sweep").exit_code, 0);
  EXPECT_TRUE(held);
  EXPECT_EQ(shell("rowlock release report --force").exit_code, 0);
  eventually("the holder knows", [&] { return !held.valid(); });
  store->age("report", 721h);
  EXPECT_EQ(shell("rowlock gc --idle 30d").exit_code, 0);
  EXPECT_FALSE(rowlock::admin{db}.show("report"));
}

}  // namespace rowlock::test
