#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

class guard_test : public contract_test {};

TEST_P(guard_test, proves_a_hold_that_stands) {
  const auto holder = held("a");
  EXPECT_TRUE(fixture().guard("a", holder.hold));
}

TEST_P(guard_test, proves_no_other_hold) {
  const auto holder = held("a");
  EXPECT_FALSE(fixture().guard("a", hold_id::random()));
  EXPECT_FALSE(fixture().guard("b", holder.hold));
}

TEST_P(guard_test, proves_no_hold_that_only_waits) {
  held("a");
  const auto waiter = queued("a");
  EXPECT_FALSE(fixture().guard("a", waiter.hold));
}

TEST_P(guard_test, proves_no_hold_that_was_released_or_replaced) {
  const auto released = held("a");
  release(released);
  EXPECT_FALSE(fixture().guard("a", released.hold));
  const auto replaced = held("a");
  const auto next = claim_to("a");
  edit("a", grant_to(next.lease, next.hold));
  EXPECT_FALSE(fixture().guard("a", replaced.hold));
  EXPECT_TRUE(fixture().guard("a", next.hold));
}

TEST_P(guard_test, of_one_lock_leaves_the_others_alone) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  const auto guard = fixture().guard("a", holder.hold);
  const auto other = held("b");
  EXPECT_TRUE(release(other));
}

TEST_P(guard_test, lets_its_holder_renew) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  const auto guard = fixture().guard("a", holder.hold);
  EXPECT_TRUE(renew(holder.lease));
}

TEST_P(guard_test, may_be_had_twice) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  auto one = fixture().guard("a", holder.hold);
  auto two = fixture().guard("a", holder.hold);
  ASSERT_TRUE(two);
  one.reset();
  EXPECT_FALSE(release(holder));
  two.reset();
  EXPECT_TRUE(release(holder));
}

ROWLOCK_FOR_EACH_STORE(guard_test);

}  // namespace
}  // namespace rowlock::test
