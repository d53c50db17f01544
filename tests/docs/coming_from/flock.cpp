// The rows of docs/coming-from/flock.md.
#include "docs/coming_from/coming_from.hpp"

namespace rowlock::test {

TEST_P(coming_from_sql_test, flock_runs_commands) {
  EXPECT_EQ(shell("rowlock run backup -- ./work").out, "working\n");
  EXPECT_EQ(shell("rowlock run backup -- sh -c 'exit 3'").exit_code, 3);
  EXPECT_THAT(shell("rowlock run backup -- sh -c 'echo $ROWLOCK_TOKEN'").out,
              testing::MatchesRegex("[0-9]+\n"));
  const auto holder = working_shell("rowlock run backup -- ./work");
  EXPECT_EQ(shell("rowlock run backup --no-wait -- ./work").exit_code, 75);
  EXPECT_EQ(shell("rowlock run backup --no-wait -E 3 -- ./work").exit_code, 3);
  EXPECT_THAT(shell("rowlock show backup").out, testing::HasSubstr("backup"));
  EXPECT_THAT(shell("rowlock list").out, testing::HasSubstr("backup"));
  EXPECT_EQ(holder->wait().exit_code, 0);
  EXPECT_EQ(shell("rowlock run backup --wait 10s -- ./work").out, "working\n");
}

TEST_P(coming_from_sql_test, flock_between_the_lines_of_a_script) {
  EXPECT_EQ(shell("rowlock acquire backup --ttl 10m >receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock run backup --no-wait -- ./work").exit_code, 75);
  EXPECT_EQ(shell("rowlock renew - <receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock release --receipt - <receipt").exit_code, 0);
  EXPECT_EQ(shell("rowlock renew - <receipt").exit_code, 76);
  EXPECT_EQ(shell("rowlock run backup --no-wait -- ./work").out, "working\n");
}

TEST_P(coming_from_sql_test, flock_shares) {
  const auto reader = working_shell("rowlock run catalog --shared -- ./work");
  EXPECT_EQ(shell("rowlock run catalog --shared -- ./work").out, "working\n");
  EXPECT_EQ(shell("rowlock run catalog --exclusive --no-wait -- ./work").exit_code, 75);
  EXPECT_EQ(reader->wait().exit_code, 0);
  EXPECT_EQ(shell("rowlock run catalog --exclusive -- ./work").out, "working\n");
}

TEST_P(coming_from_sql_test, flock_as_consul_lock) {
  EXPECT_EQ(shell("rowlock elect leader -- ./work").out, "working\n");
  const auto first = working_shell("rowlock run gpus --permits 1 --capacity 2 -- ./work");
  EXPECT_EQ(shell("rowlock run gpus --permits 1 --capacity 2 -- ./work").out, "working\n");
  const auto second = working_shell("rowlock run gpus --permits 1 --capacity 2 -- ./work");
  EXPECT_EQ(shell("rowlock run gpus --permits 1 --capacity 2 --no-wait -- ./work").exit_code, 75);
  EXPECT_EQ(shell("rowlock run deploy --delay 15s -- ./work").out, "working\n");
  const auto deploys = working_shell("rowlock run deploy --data 'build server' -- ./work");
  EXPECT_THAT(shell("rowlock show deploy").out, testing::HasSubstr("build server"));
}

TEST_P(coming_from_test, flock_in_a_program) {
  rowlock::shared_mutex catalog{db, "catalog"};
  rowlock::shared_mutex elsewhere{other, "catalog"};
  catalog.lock();
  EXPECT_FALSE(elsewhere.try_acquire_shared());
  catalog.unlock();
  catalog.lock_shared();
  EXPECT_TRUE(elsewhere.try_acquire_shared());
  catalog.unlock_shared();
  bool locked = catalog.try_lock();
  EXPECT_TRUE(locked);
  catalog.unlock();
  EXPECT_TRUE(elsewhere.try_acquire());
}

}  // namespace rowlock::test
