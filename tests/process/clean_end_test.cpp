#include "process_test.hpp"

namespace rowlock::test {

namespace {

// process_test::TearDown checks after every test that no backend is left.
class clean_end_test : public process_test {};

TEST_P(clean_end_test, leaves_no_lease_no_hold_and_no_waiter) {
  auto holder = start();
  auto waiter = start();
  auto other = start();
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("hold_many many/ 50"), "held");
  waiter.tell("acquire nightly");
  until_queued(1);
  EXPECT_EQ(leases(), 2);
  // The close hands the lock over at once; the waiter does not wait for the end of a ttl.
  holder.finish();
  waiter.grant(slack);
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL"), 1);
  EXPECT_EQ(leases(), 1);
  waiter.finish();
  other.finish();
  EXPECT_EQ(leases(), 0);
  EXPECT_EQ(queued(), 0);
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL OR in_use <> 0"), 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(clean_end_test);

}  // namespace

}  // namespace rowlock::test
