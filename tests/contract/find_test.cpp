#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

class find_test : public contract_test {};

TEST_P(find_test, knows_no_lock) {
  const auto status = find({"a", new_lease()});
  EXPECT_EQ(status.state, where::absent);
  EXPECT_FALSE(status.takeover_in);
}

TEST_P(find_test, knows_a_hold) {
  const auto holder = held("a");
  const auto status = find(holder);
  EXPECT_EQ(status.hold, holder.hold);
  EXPECT_EQ(status.state, where::held);
  EXPECT_EQ(status.lease, holder.lease);
  EXPECT_EQ(status.token, view("a").row.token);
}

TEST_P(find_test, returns_how_the_lock_is_stored) {
  const auto holder = held("a");
  for (const auto& status : {find(holder), find({"a", new_lease()})}) {
    EXPECT_EQ(status.kind, model::lock_kind::mutex);
    EXPECT_EQ(status.capacity, 1);
  }
}

TEST_P(find_test, knows_a_waiter) {
  held("a");
  const auto waiter = queued("a");
  const auto status = find(waiter);
  EXPECT_EQ(status.hold, waiter.hold);
  EXPECT_EQ(status.state, where::queued);
  EXPECT_EQ(status.lease, waiter.lease);
}

TEST_P(find_test, matches_the_hold_and_not_the_name) {
  held("a");
  held("b");
  const auto stranger = claim{"a", new_lease()};
  EXPECT_EQ(find(stranger).state, where::absent);
}

TEST_P(find_test, knows_no_hold_of_another_name) {
  const auto holder = held("a");
  create("b");
  EXPECT_EQ(find({"b", holder.lease, holder.hold}).state, where::absent);
}

// A dead lease holds nothing, whatever the row still says.
TEST_P(find_test, knows_no_hold_on_a_dead_lease) {
  const auto holder = held("a");
  kill(holder.lease);
  const auto status = find(holder);
  EXPECT_EQ(status.state, where::absent);
  EXPECT_EQ(status.takeover_in, 0us);
}

TEST_P(find_test, still_knows_a_hold_on_an_expired_lease) {
  const auto holder = held("a");
  fixture().expire(holder.lease);
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(find_test, says_how_long_the_holder_may_live_unrenewed) {
  const auto holder = held("a");
  const auto waiter = queued("a");
  fixture().expire(holder.lease, -20s);
  EXPECT_LE(find(waiter).takeover_in.value(), 20s);
  EXPECT_GT(find(waiter).takeover_in.value(), 10s);
  EXPECT_GT(find({"a", new_lease()}).takeover_in.value(), 10s) << "even for a request that does not wait yet";
}

TEST_P(find_test, says_how_long_the_holder_has_expired) {
  const auto holder = held("a");
  const auto waiter = queued("a");
  fixture().expire(holder.lease, 20s);
  EXPECT_LE(find(waiter).takeover_in.value(), -20s);
}

TEST_P(find_test, says_zero_where_an_edit_must_judge_a_lease_that_is_too_long) {
  const auto holder = held("a");
  const auto waiter = queued("a");
  fixture().expire(holder.lease, -20min);
  EXPECT_EQ(find(waiter).takeover_in, 0us);
  fixture().expire(holder.lease, -45s);
  EXPECT_GT(find(waiter).takeover_in.value(), 30s) << "by less than its ttl: no edit is worth it";

  // takeover_in follows in the same way from holders that share a lock, and from the first waiter.
  const auto reader = new_lease();
  create("b");
  edit("b", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 1;
    change.row->token = model::next_token(now.row.token, now.epoch_floor);
    change.granted_now = change.durable = true;
    change.add_permits.push_back({hold_id::random(), reader, 1, change.row->token});
    return change;
  });
  EXPECT_GT(find({"b", new_lease()}).takeover_in.value(), 10s);
  const auto writer = queued("b");
  EXPECT_GT(find({"b", new_lease()}).takeover_in.value(), 10s);
  fixture().expire(reader, -20min);
  EXPECT_EQ(find({"b", new_lease()}).takeover_in, 0us);
  fixture().expire(reader, -20s);
  fixture().expire(writer.lease, -20min);
  EXPECT_EQ(find({"b", new_lease()}).takeover_in, 0us);
}

TEST_P(find_test, says_zero_where_an_edit_would_grant) {
  const auto waiter = queued("a");
  EXPECT_EQ(find(waiter).takeover_in, 0us) << "free";
  const auto dead = held("b");
  const auto other = queued("b");
  kill(dead.lease);
  EXPECT_EQ(find(other).takeover_in, 0us) << "its holder is dead";
}

TEST_P(find_test, answers_in_the_order_of_the_questions) {
  const auto one = held("a");
  const auto two = queued("a");
  const auto three = held("c");
  const std::vector<store::hold_query> questions{
      {"c", three.hold}, {"a", two.hold}, {"b", hold_id::random()}, {"a", one.hold}, {"a", one.hold}};
  const auto answers = a->find(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(answers[i].hold, questions[i].hold);
  EXPECT_EQ(answers[0].state, where::held);
  EXPECT_EQ(answers[1].state, where::queued);
  EXPECT_EQ(answers[2].state, where::absent);
  EXPECT_EQ(answers[3].state, where::held);
  EXPECT_EQ(answers[4].state, where::held);
}

TEST_P(find_test, is_not_kept_waiting_by_a_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  const auto rival = fixture().lock_row("a");
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(find_test, of_none_is_nothing) {
  EXPECT_THAT(a->find({}), testing::IsEmpty());
}

ROWLOCK_FOR_EACH_STORE(find_test);

}  // namespace
}  // namespace rowlock::test
