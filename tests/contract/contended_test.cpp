#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;

// Verbs that save a client an edit. They may always answer nothing, so each test of a refusal also shows an answer, or
// what the refusal left unchanged.
class contended_test : public contract_test {
 protected:
  std::optional<std::chrono::microseconds> enqueue(const claim& wanted,
                                                   std::chrono::microseconds skew = 0us) {
    return a->enqueue(wanted.request(), skew);
  }
  std::optional<store::hand_over_reply> hand_over(const claim& given, std::chrono::microseconds skew = 0us) {
    return a->hand_over(given.giving_back(), skew);
  }
  void expect_unheard(const claim& wanted) {
    const auto before = waiting(wanted.name);
    EXPECT_FALSE(enqueue(wanted));
    EXPECT_EQ(waiting(wanted.name), before);
  }
  void expect_still_held(const claim& holder) {
    const auto before = view(holder.name);
    const auto queue = waiting(holder.name);
    EXPECT_FALSE(hand_over(holder));
    const auto after = view(holder.name);
    EXPECT_EQ(after.row.hold, before.row.hold);
    EXPECT_EQ(after.row.token, before.row.token);
    EXPECT_EQ(waiting(holder.name), queue);
  }
};

TEST_P(contended_test, enqueue_goes_behind_the_holder_and_earlier_waiters) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto first = claim_to("a");
  const auto second = claim_to("a");
  const auto takeover_in = enqueue(first);
  ASSERT_TRUE(takeover_in);
  EXPECT_GT(*takeover_in, 20s);
  EXPECT_LE(*takeover_in, 30s);
  EXPECT_TRUE(enqueue(second));
  EXPECT_THAT(waiting("a"), ElementsAre(first.hold, second.hold));
  EXPECT_EQ(find(first).state, where::queued);
  EXPECT_EQ(find(first).lease, first.lease);
  EXPECT_TRUE(find(holder).has_queue);
  const auto now = view("a");
  EXPECT_TRUE(now.row.has_queue);
  EXPECT_EQ(now.row.hold, holder.hold);
  EXPECT_GT(now.row.next_ticket, now.queue.back().waiter.ticket);
  EXPECT_FALSE(release(holder)) << "a fast release would leave them waiting";
}

TEST_P(contended_test, enqueue_behind_a_lease_that_is_too_long_is_left_to_an_edit) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto waiter = claim_to("a");
  fixture().expire(holder.lease, -20min);
  expect_unheard(waiter);
  fixture().expire(holder.lease, -30s);
  EXPECT_TRUE(enqueue(waiter));
}

TEST_P(contended_test, enqueue_mixes_with_edits) {
  ROWLOCK_NEEDS(short_cuts);
  held("a");
  const auto first = queued("a");
  const auto second = claim_to("a");
  EXPECT_TRUE(enqueue(second));
  const auto third = queued("a");
  EXPECT_THAT(waiting("a"), ElementsAre(first.hold, second.hold, third.hold));
}

TEST_P(contended_test, enqueue_sent_again_takes_no_second_place) {
  ROWLOCK_NEEDS(short_cuts);
  held("a");
  const auto waiter = claim_to("a");
  ASSERT_TRUE(enqueue(waiter));
  expect_unheard(waiter);
}

TEST_P(contended_test, enqueue_of_the_holder_is_left_to_an_edit) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  expect_unheard(holder);
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(contended_test, enqueue_needs_a_lock_that_is_held_by_the_living) {
  ROWLOCK_NEEDS(short_cuts);
  expect_unheard(claim_to("free"));
  EXPECT_FALSE(a->enqueue({"missing", model::lock_kind::mutex, 1, new_lease(), hold_id::random()}, 0us));
  const auto dead = held("a");
  const auto waiter = claim_to("a");
  kill(dead.lease);
  expect_unheard(waiter);
  const auto expired = held("b");
  const auto other = claim_to("b");
  fixture().expire(expired.lease, 1s);
  expect_unheard(other);
  EXPECT_TRUE(enqueue(other, 1min)) << "with that skew it has not expired";
}

TEST_P(contended_test, enqueue_needs_the_lock_as_it_is_stored) {
  ROWLOCK_NEEDS(short_cuts);
  held("a");
  auto request = claim_to("a").request();
  request.capacity = 2;
  EXPECT_FALSE(a->enqueue(request, 0us));
  request.capacity = 1;
  request.kind = model::lock_kind::unknown;
  EXPECT_FALSE(a->enqueue(request, 0us));
  EXPECT_TRUE(waiting("a").empty());
  fixture().make_unknown("a");
  EXPECT_FALSE(a->enqueue(request, 0us));
}

TEST_P(contended_test, enqueue_skips_a_row_that_is_locked) {
  ROWLOCK_NEEDS(short_cuts);
  held("a");
  const auto waiter = claim_to("a");
  auto rival = fixture().lock_row("a");
  EXPECT_FALSE(enqueue(waiter));
  rival.reset();
  EXPECT_TRUE(enqueue(waiter));
}

TEST_P(contended_test, enqueue_works_beside_a_guarded_hold_or_when_the_guard_ends) {
  ROWLOCK_NEEDS(short_cuts);
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  const auto waiter = claim_to("a");
  auto guard = fixture().guard("a", holder.hold);
  ASSERT_TRUE(guard);
  const bool lets_in = fixture().can(capability::enqueue_beside_guard);
  EXPECT_EQ(enqueue(waiter).has_value(), lets_in);
  guard.reset();
  EXPECT_EQ(enqueue(waiter).has_value(), !lets_in) << "a waiter is not queued twice";
  EXPECT_EQ(find(waiter).state, where::queued);
}

TEST_P(contended_test, enqueue_handles_any_name) {
  ROWLOCK_NEEDS(short_cuts);
  for (const std::string name : {"it's", "{a,\"b\"}", "\\", "100%; DROP TABLE x", "naïve"}) {
    const auto holder = held(name);
    const auto waiter = claim_to(name);
    ASSERT_TRUE(enqueue(waiter)) << name;
    const auto reply = hand_over(holder);
    ASSERT_TRUE(reply) << name;
    EXPECT_EQ(reply->granted, waiter.hold);
  }
}

TEST_P(contended_test, hand_over_gives_to_the_head_with_a_higher_token) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto before = view("a").row.token;
  const auto first = queued("a");
  const auto second = queued("a");
  const auto reply = hand_over(holder);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->granted, first.hold);
  EXPECT_EQ(reply->client, first.lease);
  EXPECT_EQ(reply->token, before + 1);
  EXPECT_TRUE(reply->has_queue);
  EXPECT_EQ(find(holder).state, where::absent);
  EXPECT_EQ(find(first).state, where::held);
  EXPECT_EQ(find(first).token, reply->token);
  EXPECT_THAT(waiting("a"), ElementsAre(second.hold));

  const auto last = hand_over(first);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->granted, second.hold);
  EXPECT_FALSE(last->has_queue);
  EXPECT_FALSE(view("a").row.has_queue);
  EXPECT_EQ(view("a").row.in_use, 1);
  EXPECT_TRUE(release(second)) << "the fast path is open again";
}

TEST_P(contended_test, hand_over_reaches_the_epoch) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  queued("a");
  const auto epoch = a->raise_epoch(view("a").row.token + 1'000'000'000);
  const auto reply = hand_over(holder);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->token, model::epoch_floor(epoch));
}

// Where a database keeps the rows of waiters that have left, statements read the queue from its head on.
TEST_P(contended_test, hand_over_moves_the_head_of_the_queue) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto next = queued("a");
  queued("a");
  const auto before = view("a");
  EXPECT_LE(before.row.head_ticket, before.queue.at(0).waiter.ticket);
  ASSERT_TRUE(a->hand_over(holder.giving_back(), 0us));
  const auto after = view("a");
  EXPECT_EQ(after.row.head_ticket, before.queue.at(0).waiter.ticket + 1);
  ASSERT_EQ(after.queue.size(), 1U);
  EXPECT_EQ(after.queue[0].waiter.ticket, before.queue.at(1).waiter.ticket);
  ASSERT_TRUE(a->hand_over(next.giving_back(), 0us));
  EXPECT_THAT(view("a").queue, testing::IsEmpty());
}

TEST_P(contended_test, hand_over_wakes_the_next_holder) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto waiter = queued("a");
  b->listen(waiter.lease);
  ASSERT_TRUE(hand_over(holder));
  EXPECT_TRUE(hears(*b, 20s));
}

TEST_P(contended_test, hand_over_sent_again_says_nothing) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto first = queued("a");
  queued("a");
  ASSERT_TRUE(hand_over(holder));
  expect_still_held(holder);
  EXPECT_EQ(find(first).state, where::held);
}

TEST_P(contended_test, hand_over_needs_the_hold_its_lease_and_a_queue) {
  ROWLOCK_NEEDS(short_cuts);
  const auto alone = held("b");
  expect_still_held(alone);
  const auto holder = held("a");
  queued("a");
  EXPECT_FALSE(hand_over({"a", holder.lease, hold_id::random()}));
  EXPECT_FALSE(hand_over({"a", new_lease(), holder.hold}));
  EXPECT_FALSE(hand_over({"missing", holder.lease, holder.hold}));
  EXPECT_EQ(find(holder).state, where::held);
  EXPECT_TRUE(hand_over(holder));
}

TEST_P(contended_test, hand_over_leaves_a_head_that_is_dead_or_expired_to_an_edit) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  const auto head = queued("a");
  queued("a");
  fixture().expire(head.lease, 1s);
  expect_still_held(holder);
  kill(head.lease);
  expect_still_held(holder);
  const auto other = held("b");
  const auto expired = queued("b");
  fixture().expire(expired.lease, 1s);
  EXPECT_TRUE(hand_over(other, 1min)) << "with that skew it has not expired";
}

TEST_P(contended_test, hand_over_skips_a_row_that_is_locked_or_guarded) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  queued("a");
  auto rival = fixture().lock_row("a");
  EXPECT_FALSE(hand_over(holder));
  rival.reset();
  auto guard = fixture().guard("a", holder.hold);
  ASSERT_TRUE(guard);
  EXPECT_FALSE(hand_over(holder));
  EXPECT_EQ(find(holder).state, where::held);
  guard.reset();
  EXPECT_TRUE(hand_over(holder));
}

TEST_P(contended_test, hand_over_grants_nothing_on_another_server) {
  ROWLOCK_NEEDS(short_cuts);
  const auto holder = held("a");
  queued("a");
  fixture().change_identity();
  EXPECT_FALSE(hand_over(holder));
  EXPECT_EQ(view("a").row.hold, holder.hold);
}

ROWLOCK_FOR_EACH_STORE(contended_test);

}  // namespace
}  // namespace rowlock::test
