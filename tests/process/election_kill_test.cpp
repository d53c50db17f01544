#include "kill_test.hpp"

namespace rowlock::test {

namespace {

class election_kill_test : public kill_test {};

// The workers themselves check each value that they observe (worker/election_task.cpp).
TEST_P(election_kill_test, has_one_leader_at_a_time_and_shows_no_value_of_another_term) {
  const auto found = kill_holders_and_waiters("load election 2 0 scheduler", 1);
  expect_order(found);
  auto survivor = start();
  EXPECT_TRUE(survivor.ask("campaign scheduler").starts_with("granted "));
  survivor.finish();
  until_nothing_is_left();
}

ROWLOCK_FOR_EACH_SQL_STORE(election_kill_test);

}  // namespace

}  // namespace rowlock::test
