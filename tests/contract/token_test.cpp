#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

class token_test : public contract_test {
 protected:
  // Acquires the lock by each path and expects every token above the last.
  model::token rises_above(model::token last) {
    const auto fast = next_token_of("a");
    EXPECT_GT(fast, last);
    const auto waiter = queued("a");
    edit("a", hand_over);
    const auto slow = find(waiter).token;
    EXPECT_GT(slow, fast);
    EXPECT_TRUE(release(waiter));
    return slow;
  }
};

TEST_P(token_test, rises_through_both_paths) {
  model::token last = 0;
  for (int i = 0; i < 3; ++i) last = rises_above(last);
}

TEST_P(token_test, stays_through_renewal_expiry_and_waiting) {
  const auto holder = held("a");
  const auto token = find(holder).token;
  renew(holder.lease);
  EXPECT_EQ(find(holder).token, token);
  const auto waiter = queued("a");
  EXPECT_EQ(find(holder).token, token);
  edit("a", leave(waiter.hold));
  fixture().expire(holder.lease);
  EXPECT_EQ(find(holder).token, token);
}

TEST_P(token_test, rises_above_a_dead_holders) {
  const auto dead = held("a");
  const auto token = find(dead).token;
  kill(dead.lease);
  const auto next = claim_to("a");
  edit("a", grant_to(next.lease, next.hold));
  EXPECT_GT(find(next).token, token);
}

TEST_P(token_test, rises_with_a_forced_release_before_anybody_is_granted) {
  const auto holder = held("a");
  const auto token = find(holder).token;
  edit("a", force_release);
  const auto forced = view("a").row.token;
  EXPECT_GT(forced, token);
  rises_above(forced);
}

TEST_P(token_test, rises_through_collection_and_a_new_row) {
  for (int i = 0; i < 3; ++i) next_token_of("a");
  const auto last = rises_above(0);
  create("b");
  ASSERT_GE(a->collect(0ms, 100), 1);
  ASSERT_FALSE(a->show("a"));
  rises_above(last);
  EXPECT_GT(next_token_of("b"), last) << "one floor stands for all names";
}

// Somebody may delete the row by hand, or with a program that cleans the database.
TEST_P(token_test, rises_although_somebody_has_deleted_the_row) {
  model::token last = rises_above(0);
  for (int i = 0; i < 5; ++i) {
    last = rises_above(rises_above(last));
    fixture().delete_lock("a");
    ASSERT_FALSE(a->show("a"));
    last = rises_above(last);
  }
}

TEST_P(token_test, reaches_the_floor_that_is_finer_than_the_epoch) {
  const auto wanted = claim_to("a");
  const auto epoch = b->raise_epoch(0);
  const auto first = acquire(wanted).value();
  EXPECT_GE(first, model::epoch_floor(epoch));
  EXPECT_GE(next_token_of("never seen before"), first) << "one floor stands for all names";
}

TEST_P(token_test, rises_with_the_epoch) {
  const auto before = rises_above(0);
  const auto epoch = a->raise_epoch(0);
  const auto after = rises_above(before);
  EXPECT_GE(after, model::epoch_floor(epoch));
  EXPECT_GE(next_token_of("never seen before"), model::epoch_floor(epoch));
}

TEST_P(token_test, of_the_fast_path_rises_with_the_epoch_too) {
  const auto wanted = claim_to("a");
  const auto epoch = b->raise_epoch(0);
  EXPECT_GE(acquire(wanted).value(), model::epoch_floor(epoch));
}

TEST_P(token_test, rises_through_a_change_of_the_server) {
  const auto before = rises_above(0);
  const auto epoch = a->read_database_state().epoch;
  fixture().change_identity();
  EXPECT_GT(a->record_database_state().epoch, epoch);
  EXPECT_GT(rises_above(before), before);
}

TEST_P(token_test, exceeds_what_the_operator_names) {
  const auto before = rises_above(0);
  const model::token above = before + 5 * model::epoch_floor(1) + 17;
  a->raise_epoch(above);
  EXPECT_GT(next_token_of("a"), above);
  EXPECT_GT(next_token_of("b"), above);
}

TEST_P(token_test, fits_where_json_keeps_numbers_exact) {
  EXPECT_LT(rises_above(0), model::token{1} << 53);
}

ROWLOCK_FOR_EACH_STORE(token_test);

}  // namespace
}  // namespace rowlock::test
