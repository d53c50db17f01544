#include "client/decide_test.hpp"

namespace rowlock::test {
namespace {

const party holder;

TEST(decide_acquire_test, grants_a_free_lock_durably_with_the_next_token) {
  const auto made = acquire(a_lock(), me);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_TRUE(made.change.durable);
  EXPECT_TRUE(made.change.granted_now);
  ASSERT_TRUE(made.change.row);
  EXPECT_EQ(made.change.row->lease, me.lease);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_EQ(made.change.row->in_use, 1);
  EXPECT_EQ(made.change.row->token, 8);
  EXPECT_FALSE(made.change.row->has_queue);
}

TEST(decide_acquire_test, lifts_the_token_to_the_epochs_floor) {
  EXPECT_EQ(acquire(a_lock().floor(1000), me).outcome.token, 1000);
  EXPECT_EQ(acquire(a_lock().floor(5), me).outcome.token, 8);
}

TEST(decide_acquire_test, queues_behind_a_living_holder) {
  const auto made = acquire(a_lock().held_by(holder, 20s), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.outcome.takeover_in, 20s);
  ASSERT_FALSE(made.change.enqueue.empty());
  EXPECT_EQ(made.change.enqueue.front().ticket, 1);
  EXPECT_EQ(made.change.enqueue.front().hold, me.hold);
  EXPECT_EQ(made.change.enqueue.front().lease, me.lease);
  ASSERT_TRUE(made.change.row);
  EXPECT_EQ(made.change.row->hold, holder.hold);
  EXPECT_EQ(made.change.row->token, 7);
  EXPECT_EQ(made.change.row->next_ticket, 2);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_FALSE(made.change.granted_now);
}

TEST(decide_acquire_test, is_busy_and_writes_nothing_when_it_would_not_wait) {
  const auto made = acquire(a_lock().held_by(holder), me, false);
  EXPECT_EQ(made.outcome.result, what::busy);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_acquire_test, repeated_by_the_holder_says_the_same_token_and_writes_nothing) {
  const auto made = acquire(a_lock().held_by(me), me);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_acquire_test, repeated_by_the_holder_is_granted_even_past_its_expiry_or_under_a_guard) {
  EXPECT_EQ(acquire(a_lock().held_by(me, -1s), me).outcome.result, what::granted);
  EXPECT_EQ(acquire(a_lock().held_by(me).guarded(), me).outcome.result, what::granted);
  EXPECT_EQ(acquire(a_lock().held_by(me).foreign(), me).outcome.result, what::granted);
}

TEST(decide_acquire_test, repeated_by_a_waiter_takes_no_second_ticket) {
  const auto made = acquire(a_lock().held_by(holder).queued(me), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_acquire_test, knows_its_own_row_beyond_the_part_of_the_queue_that_was_read) {
  const auto made = acquire(a_lock().held_by(holder).queued(first).more_behind().asked_by(me, 80), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_TRUE(made.change.enqueue.empty());
}

TEST(decide_acquire_test, has_an_expired_holder_killed_first_and_leaves_it_as_it_is) {
  const auto made = acquire(a_lock().held_by(holder, 0us), me);
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(holder.lease));
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_acquire_test, waits_the_skew_before_a_holder_counts_as_expired) {
  EXPECT_EQ(acquire(a_lock().held_by(holder, -1s), me, true, 2s).outcome.result, what::queued);
  EXPECT_EQ(acquire(a_lock().held_by(holder, -2s), me, true, 2s).outcome.result, what::expired);
}

TEST(decide_acquire_test, takes_over_from_the_dead_with_a_higher_token) {
  const auto made = acquire(a_lock().held_by(holder, {}), me);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.change.row->hold, me.hold);
}

TEST(decide_acquire_test, a_hold_of_its_own_on_a_dead_lease_is_granted_anew_with_a_higher_token) {
  const auto made = acquire(a_lock().held_by(me, {}), me);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
}

TEST(decide_acquire_test, queues_while_a_guard_keeps_what_the_dead_held) {
  const auto made = acquire(a_lock().held_by(holder, {}).guarded(), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.outcome.takeover_in, 0us);
  EXPECT_EQ(made.change.row->hold, holder.hold);
}

TEST(decide_acquire_test, grants_nothing_on_a_foreign_server_but_lets_wait) {
  const auto free = acquire(a_lock().foreign(), me);
  EXPECT_EQ(free.outcome.result, what::unrecorded_server);
  EXPECT_TRUE(free.change.empty());
  EXPECT_EQ(acquire(a_lock().held_by(holder).foreign(), me).outcome.result, what::queued);
}

TEST(decide_acquire_test, judges_nobody_by_the_clock_of_another_server) {
  EXPECT_EQ(acquire(a_lock().held_by(holder, -1s).foreign(), me).outcome.result, what::unrecorded_server);
  EXPECT_EQ(client_layer::decide_sweep(a_lock().held_by(holder, -1s).foreign(), 0us).outcome.result,
            what::unrecorded_server);
}

TEST(decide_acquire_test, hands_a_free_lock_to_the_head_of_the_queue_and_waits_behind_it) {
  const auto made = acquire(a_lock().queued(first).queued(second), me);
  EXPECT_EQ(made.outcome.result, what::queued);
  ASSERT_EQ(made.outcome.next.size(), 1U);
  EXPECT_EQ(made.outcome.next.front().waiter.hold, first.hold);
  EXPECT_EQ(made.outcome.next.front().token, 8);
  EXPECT_EQ(made.change.row->hold, first.hold);
  EXPECT_THAT(made.change.dequeue, ElementsAre(first.hold));
  EXPECT_EQ(made.change.enqueue.front().ticket, 3);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_acquire_test, does_not_overtake_even_when_it_would_not_wait) {
  const auto made = acquire(a_lock().queued(first), me, false);
  EXPECT_EQ(made.outcome.result, what::busy);
  EXPECT_EQ(made.change.row->hold, first.hold);
  EXPECT_TRUE(made.change.enqueue.empty());
}

TEST(decide_acquire_test, is_granted_its_turn_at_the_head_of_the_queue) {
  const auto made = acquire(a_lock().queued(me).queued(first), me);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_THAT(made.outcome.next, IsEmpty()) << "nobody else must be woken";
  EXPECT_THAT(made.change.dequeue, ElementsAre(me.hold));
  EXPECT_TRUE(made.change.row->has_queue);
}

TEST(decide_acquire_test, the_last_of_the_queue_leaves_it_empty) {
  EXPECT_FALSE(acquire(a_lock().queued(me), me).change.row->has_queue);
}

TEST(decide_acquire_test, wakes_the_process_of_a_waiter_on_a_lease_of_its_own) {
  party other;
  other.client = lease_id::random();
  EXPECT_EQ(acquire(a_lock().queued(other), me).outcome.next.front().client, other.client);
}

TEST(decide_acquire_test, skips_dead_waiters_and_removes_them) {
  const party dead;
  const auto made = acquire(a_lock().dead_waiter(dead).queued(first), me);
  EXPECT_EQ(made.change.row->hold, first.hold);
  EXPECT_THAT(made.change.dequeue, ElementsAre(dead.hold, first.hold));
  const auto alone = acquire(a_lock().dead_waiter(dead), me);
  EXPECT_EQ(alone.outcome.result, what::granted);
  EXPECT_FALSE(alone.change.row->has_queue);
}

TEST(decide_acquire_test, has_an_expired_head_killed_first) {
  const auto made = acquire(a_lock().queued(first, -1us).queued(me), me);
  EXPECT_EQ(made.outcome.result, what::expired);
  EXPECT_THAT(made.outcome.leases, ElementsAre(first.lease));
  EXPECT_TRUE(made.change.empty());
}

TEST(decide_acquire_test, clears_a_window_full_of_the_dead_and_retries) {
  const party dead;
  const auto made = acquire(a_lock().held_by(holder, {}).dead_waiter(dead).more_behind(), me);
  EXPECT_EQ(made.outcome.result, what::decide_again);
  EXPECT_THAT(made.change.dequeue, ElementsAre(dead.hold));
  EXPECT_EQ(made.change.row->hold, holder.hold) << "the holder stays as it is";
  EXPECT_EQ(made.change.row->token, 7);
  EXPECT_TRUE(made.change.row->has_queue);
  EXPECT_TRUE(made.change.enqueue.empty());
}

TEST(decide_acquire_test, keeps_has_queue_while_unread_rows_stand_behind) {
  EXPECT_TRUE(acquire(a_lock().queued(me).more_behind(), me).change.row->has_queue);
}

TEST(decide_acquire_test, clears_has_queue_when_no_row_is_left) {
  auto view = store::lock_view(a_lock().held_by(holder));
  view.row.has_queue = true;
  const auto made = acquire(view, me, false);
  EXPECT_EQ(made.outcome.result, what::busy);
  ASSERT_TRUE(made.change.row);
  EXPECT_FALSE(made.change.row->has_queue);
}

TEST(decide_acquire_test, refuses_another_capacity_whoever_holds_it) {
  for (const auto& view : {a_lock().capacity(3), a_lock().capacity(3).held_by(holder)}) {
    const auto made = acquire(view, me);
    EXPECT_EQ(made.outcome.result, what::mismatch);
    EXPECT_EQ(made.outcome.stored.capacity, 3);
    EXPECT_TRUE(made.change.empty());
  }
}

TEST(decide_acquire_test, knows_a_hold_that_came_before_a_resize) {
  const auto repeated = [](const store::lock_view& view) {
    return client_layer::decide_acquire(
        view, {{{"a", model::lock_kind::semaphore, 2}, model::lock_mode::shared}, me.lease, me.hold, true},
        no_skew);
  };
  const auto granted = repeated(a_semaphore(3).shared_by(me));
  EXPECT_EQ(granted.outcome.result, what::granted);
  EXPECT_EQ(granted.outcome.token, 8);
  EXPECT_TRUE(granted.change.empty());
  const auto queued = repeated(a_semaphore(3).shared_by(holder, 3).queued_to_share(me));
  EXPECT_EQ(queued.outcome.result, what::queued);
  EXPECT_THAT(queued.change.enqueue, IsEmpty());
  EXPECT_EQ(repeated(a_semaphore(3).shared_by(holder, 3)).outcome.result, what::mismatch);
}

// ---- with an explicit ttl ----

// The request has its hold on that lease, whose notices go to the client's.
const store::lease_record ttl_lease{lease_id::random(), me.lease, "host", 1, "", 5s};
// The same hold on the lease of an earlier try, whose answer was lost.
const party earlier_try{lease_id::random(), me.lease, me.hold};

decision acquire_with_ttl(const store::lock_view& view, model::lock_mode mode = model::lock_mode::exclusive,
                          std::int64_t weight = 1) {
  const auto& row = view.row;
  return client_layer::decide_acquire_with_ttl(
      view, {{{row.name, row.kind, row.capacity, row.fair}, mode, weight}, me.lease, me.hold, true},
      ttl_lease, no_skew);
}

TEST(decide_acquire_with_ttl_test, grants_on_the_lease_that_it_creates) {
  const auto made = acquire_with_ttl(a_lock());
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.change.row->hold, me.hold);
  EXPECT_EQ(made.change.row->lease, ttl_lease.id);
  EXPECT_THAT(made.change.create_leases, ElementsAre(ttl_lease));
  EXPECT_THAT(made.change.end_leases, IsEmpty());
  EXPECT_TRUE(made.change.durable);
  EXPECT_TRUE(made.change.granted_now);
}

TEST(decide_acquire_with_ttl_test, gives_a_permit_on_that_lease_and_leaves_those_of_others) {
  const auto made =
      acquire_with_ttl(a_semaphore(5).shared_by(first).queued_to_share(second), model::lock_mode::shared, 2);
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.weight, 2);
  ASSERT_THAT(added(made), ElementsAre(second.hold, me.hold));
  EXPECT_EQ(made.change.add_permits[0].lease, second.lease);
  EXPECT_EQ(made.change.add_permits[1].lease, ttl_lease.id);
  EXPECT_THAT(made.change.create_leases, ElementsAre(ttl_lease));
}

TEST(decide_acquire_with_ttl_test, grants_in_turn_what_stood_in_the_queue) {
  const auto made = acquire_with_ttl(a_lock().held_by(holder, {}).queued(me).queued(second));
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.change.row->lease, ttl_lease.id);
  EXPECT_THAT(made.change.dequeue, ElementsAre(me.hold));
  EXPECT_THAT(made.change.create_leases, ElementsAre(ttl_lease));
}

TEST(decide_acquire_with_ttl_test, moves_what_it_was_granted_before_with_its_token) {
  const auto made = acquire_with_ttl(a_lock().held_by(me));
  EXPECT_EQ(made.outcome.result, what::granted);
  EXPECT_EQ(made.outcome.token, 7);
  EXPECT_EQ(made.change.row->lease, ttl_lease.id);
  EXPECT_EQ(made.change.row->token, 7);
  EXPECT_THAT(made.change.create_leases, ElementsAre(ttl_lease));
  EXPECT_THAT(made.change.end_leases, IsEmpty()) << "the client's lease stays";
  EXPECT_TRUE(made.change.durable);
}

TEST(decide_acquire_with_ttl_test, ends_the_lease_of_an_earlier_try) {
  const auto one = acquire_with_ttl(a_lock().held_by(earlier_try));
  EXPECT_EQ(one.outcome.token, 7);
  EXPECT_EQ(one.change.row->lease, ttl_lease.id);
  EXPECT_THAT(one.change.end_leases, ElementsAre(earlier_try.lease));
  const auto permit = acquire_with_ttl(a_semaphore(5).shared_by(earlier_try, 3), model::lock_mode::shared, 3);
  EXPECT_EQ(permit.outcome.token, 8);
  EXPECT_EQ(permit.change.add_permits.at(0).lease, ttl_lease.id);
  EXPECT_THAT(permit.change.create_leases, ElementsAre(ttl_lease));
  EXPECT_THAT(permit.change.end_leases, ElementsAre(earlier_try.lease));
}

TEST(decide_acquire_with_ttl_test, grants_anew_what_died_on_the_lease_of_an_earlier_try) {
  const auto made = acquire_with_ttl(a_lock().held_by(earlier_try, {}));
  EXPECT_EQ(made.outcome.token, 8);
  EXPECT_EQ(made.change.row->lease, ttl_lease.id);
  EXPECT_THAT(made.change.end_leases, IsEmpty());
}

TEST(decide_acquire_with_ttl_test, waits_on_the_lease_of_its_client) {
  const auto made = acquire_with_ttl(a_lock().held_by(holder));
  EXPECT_EQ(made.outcome.result, what::queued);
  EXPECT_EQ(made.change.enqueue.at(0).lease, me.lease);
  EXPECT_THAT(made.change.create_leases, IsEmpty());
}

TEST(decide_acquire_with_ttl_test, creates_no_lease_unless_it_grants) {
  const auto refused = acquire_with_ttl(a_lock().held_by(holder, 0us));
  EXPECT_EQ(refused.outcome.result, what::expired);
  EXPECT_TRUE(refused.change.empty());
  EXPECT_TRUE(acquire_with_ttl(a_lock().foreign()).change.empty());
  EXPECT_TRUE(acquire_with_ttl(a_lock().held_by(me).guarded()).change.empty());
}

}  // namespace
}  // namespace rowlock::test
