#include "kill_test.hpp"

namespace rowlock::test {

namespace {

class semaphore_kill_test : public kill_test {};

TEST_P(semaphore_kill_test, never_has_more_permits_out_than_there_are_and_loses_none) {
  const auto found = kill_holders_and_waiters(
      "load semaphore 2 0 gpus 5", 5,
      [](const visits_report& report) { return report.most_together >= 5 && report.most_sharing > 1; });
  expect_order(found);
  EXPECT_EQ(found.most_together, 5);
  EXPECT_GT(found.most_sharing, 1) << "nobody was inside beside another";
  // The permits of the dead processes are free again.
  auto survivor = start();
  EXPECT_TRUE(survivor.ask("acquire_permits gpus 5 5").starts_with("granted "));
  survivor.finish();
  until_nothing_is_left();
}

ROWLOCK_FOR_EACH_SQL_STORE(semaphore_kill_test);

}  // namespace

}  // namespace rowlock::test
