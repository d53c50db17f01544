#include "kill_test.hpp"
#include "model/lock.hpp"

namespace rowlock::test {

namespace {

class shared_mutex_kill_test : public kill_test {};

TEST_P(shared_mutex_kill_test, keeps_writers_alone_and_everybody_in_turn) {
  const auto found = kill_holders_and_waiters("load shared_mutex 2 0 catalog", model::shared_mutex_capacity);
  expect_order(found);
  EXPECT_EQ(found.most_together, model::shared_mutex_capacity) << "nobody wrote";
  EXPECT_GT(found.most_sharing, 1) << "nobody read beside another";
  auto survivor = start();
  EXPECT_TRUE(survivor.ask("acquire_exclusive catalog").starts_with("granted "));
  survivor.finish();
  until_nothing_is_left();
}

ROWLOCK_FOR_EACH_SQL_STORE(shared_mutex_kill_test);

}  // namespace

}  // namespace rowlock::test
