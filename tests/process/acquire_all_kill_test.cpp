#include "kill_test.hpp"

namespace rowlock::test {

namespace {

class acquire_all_kill_test : public kill_test {};

// Each process acquires its names in an order of its own. If the processes waited in a circle, no further visit would
// come.
TEST_P(acquire_all_kill_test, in_any_order_keeps_each_lock_to_one_and_waits_in_no_circle) {
  const auto found = kill_holders_and_waiters("load acquire_all 2 0 account/0 account/1 account/2", 1);
  expect_order(found);
  auto survivor = start();
  EXPECT_EQ(survivor.ask("hold_many account/ 3"), "held");
  survivor.finish();
  until_nothing_is_left();
}

ROWLOCK_FOR_EACH_SQL_STORE(acquire_all_kill_test);

}  // namespace

}  // namespace rowlock::test
