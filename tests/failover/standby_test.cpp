// A PostgreSQL primary and its standby, in one URL (scripts/with-standby).
#include "pair_test.hpp"

namespace rowlock::test {
namespace {

class standby_test : public pair_test {
 protected:
  standby_test() : pair_test{"scripts/with-standby", "ROWLOCK_TEST_STANDBY"} {}
};

TEST_F(standby_test, is_passed_over_wherever_the_url_names_it) {
  make("sync");
  expect_to_pass_over_the_follower();
}

TEST_F(standby_test, that_is_synchronous_takes_over_and_nothing_is_lost) {
  make("sync");
  expect_to_lose_nothing();
}

TEST_F(standby_test, that_is_asynchronous_takes_over_and_holders_learn_what_is_lost) {
  make("async");
  expect_holders_to_learn_what_is_lost();
}

}  // namespace
}  // namespace rowlock::test
