// Every decision that takes a lock away or moves it: release, force, sweep, move.
#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

decision release(const store::lock_view& view, std::optional<lease_id> ended = {}) {
  return client_layer::decide_release(view, {.hold = me.hold, .ended = ended}, no_skew);
}
decision force(const store::lock_view& view) {
  return client_layer::decide_force(view, {}, no_skew);
}
decision sweep(const store::lock_view& view) {
  return client_layer::decide_sweep(view, no_skew);
}

void expect_free(const decision& made) {
  ASSERT_TRUE(made.change.row);
  EXPECT_FALSE(made.change.row->lease);
  EXPECT_FALSE(made.change.row->hold);
  EXPECT_EQ(made.change.row->in_use, 0);
}

TEST(decide_release_test, moves_the_head_of_the_queue_to_the_waiter_that_is_left) {
  const store::lock_view view = a_lock().held_by(me).dead_waiter().queued(first).queued(second);
  const auto made = release(view);
  EXPECT_EQ(made.change.row->head_ticket, view.queue[2].waiter.ticket);
  const store::lock_view last = a_lock().held_by(me).queued(first);
  EXPECT_EQ(release(last).change.row->head_ticket, last.row.next_ticket) << "nobody is left";
  const store::lock_view more = a_lock().held_by(me).queued(first).more_behind();
  EXPECT_EQ(release(more).change.row->head_ticket, more.queue[0].waiter.ticket + 1) << "as far as was read";
}

TEST(decide_release_test, frees_the_lock_and_keeps_its_token) {
  const auto made = release(a_lock().held_by(me));
  EXPECT_EQ(made.outcome.result, what::released);
  expect_free(made);
  EXPECT_EQ(made.change.row->token, 7);
  EXPECT_FALSE(made.change.durable) << "it may commit asynchronously";
}

TEST(decide_release_test, hands_over_to_the_head_of_the_queue_durably) {
  const auto made = release(a_lock().held_by(me).queued(first).queued(second));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_EQ(made.change.row->hold, first.hold);
  EXPECT_EQ(made.change.row->token, 8);
  EXPECT_EQ(made.change.row->in_use, 1);
  EXPECT_TRUE(made.change.durable);
  EXPECT_TRUE(made.change.granted_now);
  ASSERT_EQ(made.outcome.next.size(), 1U);
  EXPECT_EQ(made.outcome.next.front().client, first.client);
  EXPECT_EQ(made.outcome.next.front().token, 8);
  EXPECT_THAT(made.change.dequeue, ElementsAre(first.hold));
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST(decide_release_test, gives_up_a_place_in_the_queue) {
  const party holder;
  const auto made = release(a_lock().held_by(holder).queued(first).queued(me));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.dequeue, ElementsAre(me.hold));
  EXPECT_EQ(made.change.row->hold, holder.hold);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_FALSE(release(a_lock().held_by(holder).queued(me)).change.row->has_queue);
}

TEST(decide_release_test, gives_up_a_place_far_behind_and_under_a_guard) {
  const party holder;
  const auto made = release(a_lock().held_by(holder).queued(first).more_behind().asked_by(me, 90).guarded());
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.dequeue, ElementsAre(me.hold));
}

TEST(decide_release_test, repeated_finds_nothing_and_writes_nothing) {
  for (const store::lock_view& view :
       {store::lock_view(a_lock()), store::lock_view(a_lock().held_by(first))}) {
    const auto made = release(view);
    EXPECT_EQ(made.outcome.result, what::absent);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_release_test, waits_for_a_guard) {
  const auto made = release(a_lock().held_by(me).queued(first).guarded());
  EXPECT_EQ(made.outcome.result, what::guarded);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_release_test, of_a_hold_that_died_says_absent_and_still_passes_the_lock_on) {
  const auto made = release(a_lock().held_by(me, {}).queued(first));
  EXPECT_EQ(made.outcome.result, what::absent);
  EXPECT_EQ(made.change.row->hold, first.hold);
}

TEST(decide_release_test, has_an_expired_head_killed_first_and_keeps_the_holder) {
  const auto made = release(a_lock().held_by(me).queued(first, -1us).queued(second));
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(first.lease));
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_release_test, clears_a_window_of_the_dead_and_keeps_the_holder_until_repeated) {
  const auto made = release(a_lock().held_by(me).dead_waiter().more_behind());
  EXPECT_EQ(made.outcome.result, what::decide_again);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_EQ(made.change.dequeue.size(), 1U);
}

TEST(decide_release_test, grants_to_nobody_on_a_foreign_server) {
  const auto made = release(a_lock().held_by(me).queued(first).foreign());
  EXPECT_EQ(made.outcome.result, what::released);
  expect_free(made);
  EXPECT_THAT(made.outcome.next, IsEmpty());
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST(decide_release_test, ends_the_lease_of_an_explicit_ttl_in_the_same_durable_commit) {
  const auto made = release(a_lock().held_by(me), me.lease);
  EXPECT_THAT(made.change.end_leases, ElementsAre(me.lease));
  EXPECT_TRUE(made.change.durable);
}

const store::lease_record rest{lease_id::belonging_to(me.hold), me.client, "host", 1, "test", 5s};

decision release_early(const store::lock_view& view) {
  return client_layer::decide_release(view, {.hold = me.hold, .rest = rest}, no_skew);
}

TEST(decide_release_test, before_the_minimum_time_leaves_it_to_nobody_in_one_durable_commit) {
  const auto made = release_early(a_lock().held_by(me).queued(first));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_EQ(made.change.row->lease, rest.id);
  EXPECT_EQ(made.change.row->hold, hold_id{});
  EXPECT_EQ(made.change.row->in_use, 1);
  EXPECT_EQ(made.change.create_leases.front().id, rest.id);
  EXPECT_THAT(made.outcome.next, IsEmpty());
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_release_test, before_the_minimum_time_moves_a_permit_once) {
  const auto made = release_early(a_semaphore(3).shared_by(me, 2));
  EXPECT_EQ(made.outcome.result, what::released);
  ASSERT_EQ(made.change.add_permits.size(), 1U);
  EXPECT_EQ(made.change.add_permits.front().lease, rest.id);
  EXPECT_EQ(made.change.row->in_use, 2);
  party resting = me;
  resting.lease = rest.id;
  const auto again = release_early(a_semaphore(3).shared_by(resting, 2));
  EXPECT_EQ(again.outcome.result, what::released) << "I7";
  EXPECT_TRUE(again.change.create_leases.empty());
}

TEST(decide_release_test, of_a_hold_that_died_lets_nothing_rest) {
  expect_free(release_early(a_lock().held_by(me, {})));
}

TEST(decide_release_test, before_the_minimum_time_waits_for_a_guard) {
  EXPECT_EQ(release_early(a_lock().held_by(me).guarded()).outcome.result, what::guarded);
}

TEST(decide_acquire_test, after_a_loss_a_lock_with_a_delay_rests) {
  const auto made = acquire(a_lock().delay(10s).held_by(first, {}), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.change.row->hold, hold_id{});
  EXPECT_EQ(made.change.row->token, 7) << "nobody was granted";
  ASSERT_FALSE(made.change.create_leases.empty());
  EXPECT_EQ(made.change.create_leases.front().id, made.change.row->lease);
  EXPECT_EQ(made.change.create_leases.front().ttl, 10s);
  EXPECT_EQ(made.outcome.takeover_in, 10s);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_acquire_test, a_lock_that_has_rested_is_granted) {
  party nobody;
  nobody.hold = hold_id{};
  EXPECT_EQ(acquire(a_lock().delay(10s).held_by(nobody, {}), me).outcome.result, what::granted);
  EXPECT_EQ(acquire(a_lock().delay(10s).held_by(nobody, 1s), me).outcome.result, what::queued);
  EXPECT_THAT(acquire(a_lock().delay(10s).held_by(nobody, -1us), me).outcome.leases,
              ElementsAre(nobody.lease));
}

TEST(decide_acquire_test, a_guard_keeps_a_lost_lock_from_its_rest) {
  const auto made = acquire(a_lock().delay(10s).held_by(first, {}).guarded(), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.change.row->hold, first.hold);
}

TEST(decide_force_test, raises_the_token_frees_and_notifies_the_holders_process) {
  party holder;
  holder.client = lease_id::random();
  const auto made = force(a_lock().held_by(holder));
  EXPECT_EQ(made.outcome.result, what::released);
  expect_free(made);
  EXPECT_EQ(made.change.row->token, 8);
  EXPECT_THAT(made.change.notices, ElementsAre(holder.client));
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_force_test, hands_over_above_the_raised_token) {
  const auto made = force(a_lock().held_by(me).queued(first));
  EXPECT_EQ(made.change.row->hold, first.hold);
  EXPECT_GT(made.change.row->token, 8);
  EXPECT_EQ(made.outcome.next.front().token, made.change.row->token);
}

TEST(decide_force_test, of_what_nobody_holds_is_absent) {
  EXPECT_EQ(force(a_lock()).outcome.result, what::absent);
  EXPECT_TRUE(force(a_lock().queued(first)).change.empty());
}

TEST(decide_force_test, of_what_the_dead_hold_frees_it_and_notifies_nobody) {
  const auto made = force(a_lock().held_by(me, {}));
  expect_free(made);
  EXPECT_THAT(made.change.notices, IsEmpty());
}

TEST(decide_force_test, respects_a_guard_and_a_foreign_server) {
  EXPECT_EQ(force(a_lock().held_by(me).guarded()).outcome.result, what::guarded);
  EXPECT_EQ(force(a_lock().held_by(me).foreign()).outcome.result, what::unrecorded_server);
}

TEST(decide_force_test, ends_a_rest_unless_it_is_to_spare_it) {
  const auto spare = [](const store::lock_view& view) {
    return client_layer::decide_force(view, {}, no_skew, 100, true);
  };
  party resting;
  resting.hold = hold_id{};
  expect_free(force(a_lock().held_by(resting)));
  EXPECT_EQ(spare(a_lock().held_by(resting)).outcome.result, what::absent);
  EXPECT_TRUE(spare(a_lock().held_by(resting)).change.empty());
  expect_free(spare(a_lock().held_by(me)));
  resting = me;
  resting.lease = rest.id;
  const auto made = spare(a_semaphore(3).shared_by(resting, 2).shared_by(first));
  EXPECT_EQ(made.outcome.result, what::released);
  EXPECT_THAT(made.change.remove_permits, ElementsAre(first.hold));
  EXPECT_EQ(made.change.row->in_use, 2);
}

TEST(decide_sweep_test, leaves_the_living_alone) {
  const auto made = sweep(a_lock().held_by(me).queued(first));
  EXPECT_EQ(made.outcome.result, what::busy);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_sweep_test, removes_dead_waiters_behind_a_living_holder) {
  const party dead;
  const auto made = sweep(a_lock().held_by(me).dead_waiter(dead).queued(first));
  EXPECT_THAT(made.change.dequeue, ElementsAre(dead.hold));
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST(decide_sweep_test, decides_again_when_more_dead_may_stand_behind_those_that_it_removed) {
  const party dead;
  for (const auto& view : {a_lock().held_by(me).dead_waiter(dead).more_behind(),
                           a_lock().held_by(me).dead_waiter(dead).queued(first).more_behind(),
                           a_semaphore(2).shared_by(me, 2).dead_waiter(dead).more_behind()}) {
    const auto made = sweep(view);
    EXPECT_EQ(made.outcome.result, what::decide_again);
    EXPECT_THAT(made.change.dequeue, ElementsAre(dead.hold));
  }
  EXPECT_EQ(sweep(a_lock().held_by(me).queued(first).more_behind()).outcome.result, what::busy);
  const auto passed = sweep(a_lock().held_by(me, {}).dead_waiter(dead).queued(first).more_behind());
  EXPECT_EQ(passed.change.row->hold, first.hold);
  EXPECT_TRUE(passed.outcome.more);
}

TEST(decide_sweep_test, has_an_expired_holder_killed_first) {
  EXPECT_THAT(sweep(a_lock().held_by(me, -1us)).outcome.leases, ElementsAre(me.lease));
}

TEST(decide_sweep_test, frees_what_the_dead_hold_or_passes_it_on) {
  expect_free(sweep(a_lock().held_by(me, {})));
  const auto passed = sweep(a_lock().held_by(me, {}).queued(first));
  EXPECT_EQ(passed.change.row->hold, first.hold);
  EXPECT_EQ(passed.change.row->token, 8);
}

TEST(decide_sweep_test, of_a_free_lock_writes_nothing) {
  EXPECT_TRUE(sweep(a_lock()).change.empty());
}

TEST(decide_sweep_test, respects_a_guard_and_a_foreign_server) {
  EXPECT_EQ(sweep(a_lock().held_by(me, {}).guarded()).outcome.result, what::guarded);
  EXPECT_EQ(sweep(a_lock().held_by(me, {}).foreign()).outcome.result, what::unrecorded_server);
}

decision move(const store::lock_view& view, const lease_id& to) {
  return client_layer::decide_move(view, me.hold, {to, me.lease, "host", 1, "test", 5s});
}

TEST(decide_move_test, puts_the_hold_onto_the_new_lease_with_its_token_in_one_durable_commit) {
  const auto to = lease_id::random();
  const auto made = move(a_lock().held_by(me), to);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_EQ(made.change.row->lease, to);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_EQ(made.change.row->token, 7);
  EXPECT_EQ(made.change.create_leases.front().id, to);
  EXPECT_FALSE(made.change.granted_now);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_move_test, replaces_the_data_in_the_same_commit) {
  const auto to = lease_id::random();
  const auto made =
      client_layer::decide_move(a_lock().held_by(me), me.hold, {to, me.lease, "host", 1, "test", 5s}, "new");
  EXPECT_EQ(made.change.row->lease, to);
  ASSERT_TRUE(made.change.value);
  EXPECT_THAT(*made.change.value, testing::EndsWith("new"));
  const auto repeated = client_layer::decide_move(a_lock().held_by(me), me.hold,
                                                  {me.lease, me.lease, "host", 1, "test", 5s}, "new");
  EXPECT_TRUE(repeated.change.empty());
}

TEST(decide_move_test, repeated_says_granted_and_writes_nothing) {
  const auto made = move(a_lock().held_by(me), me.lease);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_move_test, of_a_hold_that_is_gone_or_dead_is_absent) {
  const auto to = lease_id::random();
  EXPECT_EQ(move(a_lock().held_by(first), to).outcome.result, what::absent);
  EXPECT_EQ(move(a_lock().held_by(me, {}), to).outcome.result, what::absent);
  EXPECT_TRUE(move(a_lock(), to).change.empty());
}

}  // namespace
}  // namespace rowlock::test
