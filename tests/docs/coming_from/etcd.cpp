// The rows of docs/coming-from/etcd.md.
#include "docs/coming_from/coming_from.hpp"

#ifdef ROWLOCK_TEST_SQLITE
#include <rowlock/guard/sqlite3.hpp>
#endif

#include <future>
#include <memory>
#include <mutex>

namespace rowlock::test {

TEST_P(coming_from_sql_test, etcd_sessions) {
  rowlock::options settings;
  settings.prefix = store->options().prefix;
  settings.ttl = 10s;
  rowlock::client session = rowlock::connect(url, settings);
  const auto held = rowlock::mutex(session, "report").acquire();
  EXPECT_LE(held.remaining(), 10s);
  session.close();
  EXPECT_EQ(held.loss(), loss::closed);
  EXPECT_TRUE(rowlock::mutex(db, "report").try_acquire_for(20s));
}

TEST_P(coming_from_test, etcd_mutex) {
  rowlock::mutex report{db, "report"};
  rowlock::mutex elsewhere{other, "report"};
  std::stop_source ctx;
  {
    auto held = report.acquire({.stop = ctx.get_token()});
    EXPECT_FALSE(elsewhere.try_acquire());
    rowlock::fencing_token revision = held.token();
    std::stop_token done = held.stop_token();
    EXPECT_FALSE(done.stop_requested());
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
    EXPECT_GT(elsewhere.acquire().token(), revision);
  }
  {
    auto held = report.try_acquire();
    EXPECT_TRUE(held);
  }
  {
    std::scoped_lock locker{report};
    EXPECT_FALSE(elsewhere.try_acquire());
  }
  const auto busy = elsewhere.acquire();
  ctx.request_stop();
  EXPECT_THROW(std::ignore = report.acquire({.stop = ctx.get_token()}), rowlock::error);
}

TEST_P(coming_from_test, etcd_election) {
  rowlock::election office{db, "office"};
  rowlock::election elsewhere{other, "office"};
  rowlock::leadership seen = elsewhere.observe();
  EXPECT_FALSE(seen.led);
  auto term = office.campaign();
  term.proclaim("10.0.0.7");
  std::string leader = elsewhere.observe().value;
  EXPECT_EQ(leader, "10.0.0.7");
  seen = elsewhere.wait(seen);
  EXPECT_TRUE(seen.led);
  auto result = term.resign();
  EXPECT_EQ(result, release_result::released);
  EXPECT_TRUE(elsewhere.try_campaign());
}

TEST_P(coming_from_test, etcd_recipes) {
  rowlock::shared_mutex catalog{db, "catalog"};
  auto reads = catalog.acquire_shared();
  EXPECT_TRUE(rowlock::shared_mutex(other, "catalog").try_acquire_shared());
  rowlock::barrier meeting{db, "meeting", 2};
  const auto elsewhere =
      std::async(std::launch::async, [&] { rowlock::barrier(other, "meeting", 2).arrive_and_wait(); });
  meeting.arrive_and_wait();
}

TEST_P(coming_from_sql_test, etcd_from_a_shell) {
  EXPECT_EQ(shell("rowlock run deploy -- ./work").out, "working\n");
  EXPECT_EQ(shell("rowlock run deploy --ttl 10s -- ./work").out, "working\n");
  EXPECT_THAT(shell("rowlock run deploy -- sh -c 'echo $ROWLOCK_NAME $ROWLOCK_TOKEN'").out,
              testing::MatchesRegex("deploy [0-9]+\n"));
  EXPECT_THAT(shell("rowlock show deploy").out, testing::HasSubstr("deploy"));
}

TEST_P(coming_from_sql_test, etcd_elects_from_a_shell) {
  EXPECT_EQ(shell("rowlock elect office --value 10.0.0.7 -- ./work").out, "working\n");
  const auto leader = working_shell("rowlock elect office --value 10.0.0.7 -- ./work");
  EXPECT_EQ(rowlock::election(db, "office").observe().value, "10.0.0.7");
}

TEST_P(coming_from_sql_test, etcd_leases_from_a_shell) {
  EXPECT_EQ(shell("rowlock acquire deploy --ttl 10m >receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock run deploy --no-wait -- ./work").exit_code, 75);
  EXPECT_EQ(shell("rowlock renew - <receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock release --receipt - <receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock release --receipt - <receipt").exit_code, 76);
}

#ifdef ROWLOCK_TEST_SQLITE
TEST_P(coming_from_sqlite_test, etcd_guarded_write) {
  sqlite3* txn = nullptr;
  ASSERT_EQ(sqlite3_open(url.substr(std::string{"sqlite:"}.size()).c_str(), &txn), SQLITE_OK);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> owner{txn, &sqlite3_close};
  sqlite3_busy_timeout(txn, 10'000);
  const auto held = rowlock::mutex(db, "report").acquire();
  ASSERT_EQ(sqlite3_exec(txn, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  rowlock::guard(txn, held);
  EXPECT_EQ(sqlite3_exec(txn, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_TRUE(rowlock::admin{other}.release("report"));
  ASSERT_EQ(sqlite3_exec(txn, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THROW(rowlock::guard(txn, held), rowlock::error);
}
#endif

}  // namespace rowlock::test
