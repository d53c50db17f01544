#include "process_test.hpp"

namespace rowlock::test {

namespace {

// Members of a latch or a barrier wait for one another, and one is killed.
class killed_member_test : public process_test {};

TEST_P(killed_member_test, breaks_its_barrier_within_its_ttl_and_the_next_generation_meets) {
  auto one = start();
  auto two = start();
  auto three = start();
  one.tell("arrive phase 3");
  until_queued(1);
  two.tell("arrive phase 3");
  until_queued(2);
  two.kill();
  expire_lease_of(two);
  const auto told = one.answer(slack);
  EXPECT_EQ(told.rfind("error broken_barrier", 0), 0U) << told;
  EXPECT_EQ(queued(), 0);
  auto four = start();
  one.tell("arrive phase 3");
  until_queued(1);
  three.tell("arrive phase 3");
  until_queued(2);
  const auto generation = four.ask("arrive phase 3");
  EXPECT_EQ(generation.rfind("complete ", 0), 0U) << generation;
  EXPECT_EQ(one.answer(slack), generation);
  EXPECT_EQ(three.answer(slack), generation);
  until("every member has released its permit", [&] { return number("SELECT count(*) FROM @permit") == 0; });
}

TEST_P(killed_member_test, leaves_what_it_counted_at_a_latch_and_no_place_in_its_queue) {
  auto waiter = start();
  auto counter = start();
  auto impatient = start();
  waiter.tell("await_latch ready 2");
  until_queued(1);
  impatient.tell("await_latch ready 2");
  until_queued(2);
  EXPECT_EQ(counter.ask("count_down ready 2"), "counted");
  counter.kill();
  impatient.kill();
  auto other = start();
  EXPECT_EQ(other.ask("count_down ready 2"), "counted");
  EXPECT_EQ(waiter.answer(slack), "open");
  EXPECT_EQ(queued(), 0);
  EXPECT_EQ(other.ask("await_latch ready 2", slack), "open");
}

ROWLOCK_FOR_EACH_SQL_STORE(killed_member_test);

}  // namespace

}  // namespace rowlock::test
