// Decisions about latches and barriers: their waiters are released together.
#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

using client_layer::decide_count_down;
using client_layer::decide_force;
using client_layer::decide_release;
using client_layer::decide_reset;
using client_layer::decide_sweep;
using testing::UnorderedElementsAre;

view_builder a_latch(std::int64_t count) {
  return view_builder{}.kind(model::lock_kind::latch).capacity(count);
}
view_builder a_barrier(std::int64_t parties) {
  return view_builder{}.kind(model::lock_kind::barrier).capacity(parties);
}
model::lock_definition definition_of(const store::lock_view& view) {
  return {view.row.name, view.row.kind, view.row.capacity, view.row.fair};
}
decision count_down(const store::lock_view& view, std::int64_t n = 1, hold_id hold = me.hold,
                    model::token tried = 0) {
  return decide_count_down(view, definition_of(view), hold, n, tried);
}
decision wait(const store::lock_view& view, const party& who = me) {
  return share(view, who);
}
decision arrive(const store::lock_view& view, const party& who = me, bool arrived = false,
                bool leaving = false) {
  return client_layer::decide_acquire(
      view, {{definition_of(view), model::lock_mode::shared}, who.lease, who.hold, true, arrived, leaving},
      no_skew);
}
decision leave(const store::lock_view& view, const party& who = me) {
  return arrive(view, who, true, true);
}

std::vector<hold_id> let_go(const decision& made) {
  std::vector<hold_id> holds;
  for (const auto& next : made.outcome.next) holds.push_back(next.waiter.hold);
  return holds;
}

// ---- latch ----

TEST(decide_latch_test, a_count_is_a_permit_that_no_lease_carries) {
  const auto made = count_down(a_latch(3), 2);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.remaining, 1);
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits[0].hold, me.hold);
  EXPECT_TRUE(made.change.add_permits[0].lease.is_nil());
  EXPECT_EQ(made.change.add_permits[0].weight, 2);
  EXPECT_EQ(made.change.row->in_use, 2);
  EXPECT_TRUE(made.change.durable) << "I8";
}

TEST(decide_latch_test, the_same_count_counts_once) {
  const auto made = count_down(a_latch(3).shared_by(me, 1, {}));
  EXPECT_EQ(made.outcome.result, what::granted) << "I7";
  EXPECT_TRUE(made.change.empty());
}

// An earlier attempt would have got the token 8.
TEST(decide_latch_test, a_count_that_was_tried_before_is_made_if_it_was_not_then) {
  const auto again = [](const store::lock_view& view) { return count_down(view, 1, me.hold, 8); };
  EXPECT_EQ(again(a_latch(3)).change.row->in_use, 1) << "nobody has had that token";
  EXPECT_EQ(again(a_latch(3).shared_by(first, 1, {})).change.row->in_use, 2) << "another has it";
  EXPECT_EQ(again(a_latch(4).shared_by(first, 1, {}).shared_by(second, 1, {})).change.row->in_use, 3)
      << "a count from before that try stands, so nothing was reset";
  EXPECT_TRUE(again(a_latch(3).shared_by(me, 1, {})).change.empty()) << "it was made";
}

TEST(decide_latch_test, a_count_that_was_tried_before_a_reset_is_in_doubt) {
  store::lock_view view = a_latch(1);
  view.row.token = 8;
  for (const bool counted_anew : {false, true}) {
    if (counted_anew) {
      view.permits.push_back({{first.hold, {}, 1, ++view.row.token}, {}});
      view.row.in_use = 1;  // so the latch is open, and one more count would be too many
    }
    const auto made = count_down(view, 1, me.hold, 8);
    EXPECT_EQ(made.outcome.result, what::in_doubt);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_latch_test, counts_of_the_dead_stay) {
  const auto made = count_down(a_latch(3).shared_by(first, 1, {}).shared_by(second, 1, {}));
  EXPECT_THAT(made.change.remove_permits, IsEmpty());
  EXPECT_EQ(made.change.row->in_use, 3);
  EXPECT_EQ(wait(a_latch(1).shared_by(first, 1, {})).outcome.result, what::granted);
  EXPECT_TRUE(decide_sweep(a_latch(3).shared_by(first, 1, {}), no_skew).change.empty());
}

TEST(decide_latch_test, below_zero_is_refused_and_changes_nothing) {
  const auto made = count_down(a_latch(3).shared_by(first, 2, {}).queued_to_share(second), 2);
  EXPECT_EQ(made.outcome.result, what::overrun);
  EXPECT_EQ(made.outcome.remaining, 1);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_latch_test, nobody_goes_on_before_zero) {
  const auto waits = wait(a_latch(3).shared_by(first, 2, {}).queued_to_share(second));
  EXPECT_EQ(waits.outcome.result, what::queued);
  EXPECT_THAT(let_go(waits), IsEmpty());
  EXPECT_THAT(let_go(count_down(a_latch(3).queued_to_share(second), 2)), IsEmpty());
  const auto gives_up =
      decide_release(a_latch(3).queued_to_share(me).queued_to_share(second), {me.hold}, no_skew);
  EXPECT_EQ(gives_up.outcome.result, what::released);
  EXPECT_THAT(gives_up.change.dequeue, ElementsAre(me.hold));
  EXPECT_THAT(let_go(gives_up), IsEmpty());
}

TEST(decide_latch_test, who_does_not_wait_is_told_that_it_is_closed) {
  const auto ask = [](const store::lock_view& view) {
    return client_layer::decide_acquire(
        view, {{definition_of(view), model::lock_mode::shared}, me.lease, me.hold, false}, no_skew);
  };
  const auto closed = ask(a_latch(3).shared_by(first, 2, {}));
  EXPECT_EQ(closed.outcome.result, what::busy);
  EXPECT_TRUE(closed.change.empty());
  EXPECT_EQ(ask(a_latch(3).queued_to_share(me)).outcome.result, what::queued) << "its place is not lost";
  EXPECT_EQ(ask(a_latch(2).shared_by(first, 2, {})).outcome.result, what::granted);
}

TEST(decide_latch_test, at_zero_all_go_on_but_the_dead) {
  const auto made = count_down(a_latch(2)
                                   .shared_by(third, 1, {})
                                   .queued_to_share(first)
                                   .dead_waiter()
                                   .queued_to_share(second, 1, -1s));
  EXPECT_THAT(let_go(made), ElementsAre(first.hold, second.hold));
  EXPECT_EQ(made.change.dequeue.size(), 3U);
  EXPECT_FALSE(made.change.row->has_queue);
  EXPECT_FALSE(made.outcome.more);
}

TEST(decide_latch_test, a_waiter_beyond_what_was_read_goes_on_by_a_sweep) {
  const auto opened = count_down(a_latch(1).queued_to_share(first).more_behind());
  EXPECT_THAT(let_go(opened), ElementsAre(first.hold));
  EXPECT_TRUE(opened.outcome.more);
  EXPECT_TRUE(opened.change.row->has_queue);
  const auto swept =
      decide_sweep(a_latch(1).shared_by(third, 1, {}).queued_to_share(second).more_behind(), no_skew);
  EXPECT_THAT(let_go(swept), ElementsAre(second.hold));
  EXPECT_TRUE(swept.outcome.more);
}

TEST(decide_latch_test, a_late_comer_goes_on_and_writes_nothing) {
  const auto made = wait(a_latch(1).shared_by(third, 1, {}));
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_latch_test, another_count_is_refused) {
  const store::lock_view stored = a_latch(3);
  auto other = definition_of(stored);
  other.capacity = 4;
  EXPECT_EQ(decide_count_down(stored, other, me.hold, 1).outcome.result, what::mismatch) << "I11";
  EXPECT_EQ(decide_reset(stored, other).outcome.result, what::mismatch);
}

TEST(decide_latch_test, reset_removes_all_counts) {
  const store::lock_view counted = a_latch(3).shared_by(first, 1, {}).shared_by(second, 2, {});
  const auto made = decide_reset(counted, definition_of(counted));
  EXPECT_THAT(made.change.remove_permits, UnorderedElementsAre(first.hold, second.hold));
  EXPECT_EQ(made.change.row->in_use, 0);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_latch_test, reset_first_releases_the_waiters_for_whom_it_was_open) {
  const store::lock_view open = a_latch(1).shared_by(third, 1, {}).queued_to_share(first).more_behind();
  const auto made = decide_reset(open, definition_of(open));
  EXPECT_EQ(made.outcome.result, what::decide_again);
  EXPECT_THAT(let_go(made), ElementsAre(first.hold));
  EXPECT_THAT(made.change.remove_permits, IsEmpty());
}

TEST(decide_latch_test, nobody_counts_on_a_foreign_server) {
  EXPECT_EQ(count_down(a_latch(3).foreign()).outcome.result, what::unrecorded_server) << "I2";
}

// ---- barrier ----

TEST(decide_barrier_test, a_member_before_the_last_waits_durably) {
  const auto made = arrive(a_barrier(3).queued_to_share(first));
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.change.enqueue.front().hold, me.hold);
  EXPECT_TRUE(made.change.durable);
  EXPECT_THAT(let_go(made), IsEmpty());
}

TEST(decide_barrier_test, the_last_lets_all_go_on_with_one_new_token) {
  const auto made = arrive(a_barrier(3).queued_to_share(first).queued_to_share(second));
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8) << "I2";
  EXPECT_THAT(let_go(made), ElementsAre(first.hold, second.hold));
  ASSERT_EQ(made.change.add_permits.size(), 3U);
  for (const auto& permit : made.change.add_permits) {
    EXPECT_EQ(permit.token, 8);
    EXPECT_EQ(permit.weight, 0);
  }
  for (const auto& next : made.outcome.next) EXPECT_EQ(next.token, 8);
  EXPECT_EQ(made.change.row->token, 8);
  EXPECT_EQ(made.change.row->in_use, 0);
  EXPECT_FALSE(made.change.row->has_queue);
  EXPECT_TRUE(made.change.durable) << "I8";
}

TEST(decide_barrier_test, a_member_finds_its_permit_and_releases_it) {
  const store::lock_view done = a_barrier(3).shared_by(me, 0).shared_by(first, 0);
  const auto found = arrive(done, me, true);
  EXPECT_EQ(found.outcome.result, what::granted);
  EXPECT_EQ(found.outcome.token, 8);
  EXPECT_TRUE(found.change.empty());
  EXPECT_EQ(leave(done).outcome.result, what::granted) << "a member that gives up too late goes on";
  const auto back = decide_release(done, {me.hold}, no_skew);
  EXPECT_EQ(back.outcome.result, what::released);
  EXPECT_THAT(back.change.remove_permits, ElementsAre(me.hold));
}

TEST(decide_barrier_test, permits_of_the_last_generation_do_not_count_for_the_next) {
  const auto made = arrive(a_barrier(2).shared_by(first, 0).shared_by(second, 0));
  EXPECT_EQ(made.outcome.result, what::queued);
}

TEST(decide_barrier_test, repeated_it_waits_in_its_place) {
  const auto made = arrive(a_barrier(2).queued_to_share(me), me, true);
  EXPECT_EQ(made.outcome.result, what::queued) << "it counts once";
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_barrier_test, a_member_that_gives_up_breaks_the_generation_for_all) {
  const auto made = leave(a_barrier(4).queued_to_share(first).queued_to_share(me).queued_to_share(second));
  EXPECT_EQ(made.outcome.result, what::busy);
  EXPECT_THAT(made.change.dequeue, UnorderedElementsAre(first.hold, me.hold, second.hold));
  EXPECT_THAT(made.outcome.wake, UnorderedElementsAre(first.client, me.client, second.client));
  EXPECT_THAT(made.change.add_permits, IsEmpty());
  EXPECT_TRUE(made.change.durable);
  EXPECT_FALSE(made.change.row->has_queue);
  const auto late = arrive(a_barrier(4).queued_to_share(first), me, false, true);
  EXPECT_EQ(late.outcome.result, what::busy);
  EXPECT_THAT(late.change.dequeue, ElementsAre(first.hold)) << "its time was up before it had arrived";
  const auto by_close =
      decide_release(a_barrier(4).queued_to_share(first).queued_to_share(me), {me.hold}, no_skew);
  EXPECT_THAT(by_close.change.dequeue, UnorderedElementsAre(first.hold, me.hold));
  EXPECT_THAT(by_close.outcome.wake, UnorderedElementsAre(first.client, me.client));
}

TEST(decide_barrier_test, a_member_that_finds_its_place_gone_knows_that_it_is_broken) {
  EXPECT_EQ(arrive(a_barrier(2), me, true).outcome.result, what::broken);
  EXPECT_EQ(arrive(a_barrier(2).queued_to_share(first), me, true).outcome.result, what::broken)
      << "though it could go on with the next";
  EXPECT_EQ(leave(a_barrier(2)).outcome.result, what::broken);
}

TEST(decide_barrier_test, a_dead_member_breaks_it_and_the_next_begins_anew) {
  const store::lock_view lame = a_barrier(3).queued_to_share(first).dead_waiter(second);
  const auto made = arrive(lame);
  EXPECT_EQ(made.outcome.result, what::queued) << "it is the first of a new one";
  EXPECT_THAT(made.change.dequeue, UnorderedElementsAre(first.hold, second.hold));
  EXPECT_THAT(made.outcome.wake, ElementsAre(first.client));
  EXPECT_THAT(let_go(made), IsEmpty());
  EXPECT_EQ(arrive(lame, first, true).outcome.result, what::broken);
  const auto swept = decide_sweep(lame, no_skew);
  EXPECT_THAT(swept.change.dequeue, UnorderedElementsAre(first.hold, second.hold));
  EXPECT_THAT(swept.outcome.wake, ElementsAre(first.client));
}

TEST(decide_barrier_test, an_expired_member_is_killed_before_anybody_goes_on) {
  const auto made = arrive(a_barrier(2).queued_to_share(first, 1, -1s));
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(first.lease));
  EXPECT_TRUE(made.change.empty());
  EXPECT_EQ(decide_sweep(a_barrier(2).queued_to_share(first, 1, -1s), no_skew).outcome.result, what::expired);
}

TEST(decide_barrier_test, a_release_that_finds_a_dead_member_breaks_it_too) {
  const auto made = decide_release(a_barrier(3).shared_by(me, 0).queued_to_share(first).dead_waiter(second),
                                   {me.hold}, no_skew);
  EXPECT_THAT(made.change.dequeue, UnorderedElementsAre(first.hold, second.hold));
  EXPECT_THAT(made.outcome.wake, ElementsAre(first.client));
}

TEST(decide_barrier_test, nobody_goes_on_on_a_foreign_server) {
  EXPECT_EQ(arrive(a_barrier(2).queued_to_share(first).foreign()).outcome.result, what::unrecorded_server)
      << "I2";
}

TEST(decide_barrier_test, force_is_not_for_those_that_nobody_holds) {
  EXPECT_EQ(decide_force(a_barrier(2).queued_to_share(first), {}, no_skew).outcome.result, what::mismatch);
  EXPECT_EQ(decide_force(a_latch(2).shared_by(first, 1, {}), {}, no_skew).outcome.result, what::mismatch);
}

}  // namespace
}  // namespace rowlock::test
