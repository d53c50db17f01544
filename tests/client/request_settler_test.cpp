#include "client/core/request_settler.hpp"

#include "client/parts_test.hpp"

#include <atomic>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class request_settler_test : public parts_test {
 protected:
  request_settler_test() { begin(); }

  // A request in the state in which the database has answered it.
  client_layer::acquire_ptr sent(const std::string& name, model::lock_kind kind = model::lock_kind::mutex) {
    auto made = asks(name, true, kind);
    made->lease = engine->services().queue.lease();
    return made;
  }
  client_layer::acquire_ptr waiting(const std::string& name) {
    auto made = sent(name);
    complete.queued(made, 10s, wakeups());
    return made;
  }
  std::uint64_t wakeups() { return services().agenda.wakeups(); }
  client_layer::release_ptr release_of(const client_layer::hold_ptr& hold, store::durability how) {
    auto made = leaves(hold);
    made->how = how;
    return made;
  }
  client_layer::hold_ptr granted_hold(const std::string& name) {
    const auto asked = sent(name);
    complete.granted(asked, 7);
    return hold_of(asked);
  }

  client_layer::waiter_registry waiters;
  client_layer::hold_registry holds{services().agenda};
  client_layer::recent_releases releases;
  client_layer::recently_contended contended;
  client_layer::request_settler complete{environment(),
                                         services().agenda,
                                         queue(),
                                         waiters,
                                         holds,
                                         releases,
                                         contended,
                                         [this](const client_layer::granted_hold& granted) {
                                           return std::make_shared<client_layer::hold_state>(
                                               engine, time, granted.lock, granted.id, granted.token,
                                               granted.lease, granted.mode, granted.weight, granted.ending);
                                         }};
};

TEST_F(request_settler_test, a_grant_becomes_a_registered_hold_that_its_caller_gets) {
  const auto asked = sent("a");
  asked->progress.granted(true);
  asked->min_hold = 3s;
  complete.granted(asked, 7);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->name(), "a");
  EXPECT_EQ(hold->id(), asked->hold);
  EXPECT_EQ(hold->token(), 7);
  EXPECT_TRUE(hold->is_contended());
  EXPECT_EQ(hold->keep_until(), time.now() + 3s);
  EXPECT_TRUE(holds.contains(hold->id()));
  EXPECT_EQ(environment().count.acquired, 1U);
  holds.remove(*hold);
}

TEST_F(request_settler_test, counts_how_long_a_grant_was_waited_for_and_held) {
  const auto asked = sent("a");
  asked->called_at = time.now();
  time.advance(2s);
  complete.granted(asked, 7);
  const auto hold = hold_of(asked);
  EXPECT_EQ(hold->grant().at, time.now());
  EXPECT_EQ(environment().count.waited.read().count(), 1U);
  EXPECT_EQ(environment().count.waited.read().sum, 2s);
  hold->begin_release();
  const auto ending = hold->take_ending();
  time.advance(3s);
  complete.released(ending, release_result::lost);
  EXPECT_EQ(environment().count.held.read().count(), 0U) << "it ended at an unknown time";
  EXPECT_EQ(environment().count.read().lost, 1U);
  complete.released(ending, release_result::released);
  EXPECT_EQ(environment().count.held.read().count(), 1U);
  EXPECT_EQ(environment().count.held.read().sum, 3s);
  holds.remove(*hold);
}

TEST_F(request_settler_test, counts_a_grant_before_its_caller_can_see_it) {
  const auto asked = sent("a");
  std::uint64_t seen = 0;
  asked->answer.on_complete([&] { seen = environment().count.acquired; });
  complete.granted(asked, 7);
  EXPECT_EQ(seen, 1U);
  holds.remove(*hold_of(asked));
}

TEST_F(request_settler_test, a_grant_on_a_lease_that_is_over_counts_for_nobody) {
  const auto asked = sent("a");
  const auto granted_as = asked->hold;
  const auto lease = asked->lease;
  time.advance(30s);
  complete.granted(asked, 7);
  EXPECT_FALSE(asked->answer.is_complete());
  EXPECT_TRUE(holds.empty());
  EXPECT_EQ(environment().count.acquired, 0U);
  EXPECT_NE(asked->hold, granted_as) << "it is asked again, as a new request";
  EXPECT_EQ(asked->lease, nullptr);
  const auto next = submitted();
  EXPECT_THAT(next.acquires, ElementsAre(asked));
  ASSERT_EQ(next.releases.size(), 1U);
  EXPECT_EQ(next.releases.front()->hold, granted_as);
  EXPECT_EQ(next.releases.front()->lease, lease);
}

TEST_F(request_settler_test, a_grant_that_nobody_waits_for_is_withdrawn) {
  const auto asked = sent("a");
  asked->answer.give_up();
  complete.granted(asked, 7);
  EXPECT_TRUE(holds.empty());
  EXPECT_EQ(environment().count.acquired, 0U);
  const auto withdrawn = submitted().releases;
  ASSERT_EQ(withdrawn.size(), 1U);
  EXPECT_EQ(withdrawn.front()->hold, asked->hold);
}

TEST_F(request_settler_test, a_grant_that_nobody_waits_for_is_given_back_once_by_a_client_that_closes) {
  // The client is closed between the hold's registration and its return.
  bool is_closed = false;
  services().agenda.on_wake([&] {
    if (std::exchange(is_closed, true)) return;
    auto lost = holds.lose_all(loss::closed);
    ASSERT_EQ(lost.size(), 1U);
    queue().submit(engine->releaser().closing_release(**lost.begin()));
    holds.remove(**lost.begin());
  });
  services().agenda.set_sleep(false, true);
  const auto asked = sent("a");
  asked->answer.give_up();
  complete.granted(asked, 7);
  EXPECT_TRUE(is_closed);
  const auto sent_back = submitted().releases;
  ASSERT_EQ(sent_back.size(), 1U);
  EXPECT_EQ(sent_back.front()->hold, asked->hold);
}

TEST_F(request_settler_test, a_hand_over_with_an_explicit_ttl_first_moves_to_a_lease_of_its_own) {
  const auto asked = sent("a");
  asked->ttl = 5s;
  complete.granted(asked, 7);
  EXPECT_FALSE(asked->answer.is_complete());
  EXPECT_TRUE(asked->progress.must_edit());
  EXPECT_THAT(submitted().acquires, ElementsAre(asked));
  asked->lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 5s, false, asked->lease->id());
  asked->lease->confirm(time.now(), {});
  complete.granted(asked, 7);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->lease(), asked->lease);
  holds.remove(*hold);
}

TEST_F(request_settler_test, who_passed_a_latch_or_a_barrier_holds_nothing) {
  const auto latch = sent("l", model::lock_kind::latch);
  const auto barrier = sent("b", model::lock_kind::barrier);
  time.advance(30s);
  for (const auto& one : {latch, barrier}) {
    complete.granted(one, 9);
    ASSERT_TRUE(one->answer.is_complete()) << "that it is open stays true when the lease is over";
    EXPECT_EQ(hold_of(one)->token(), 9);
  }
  EXPECT_TRUE(holds.empty());
  const auto withdrawn = submitted().releases;
  ASSERT_EQ(withdrawn.size(), 1U) << "the barrier's permit; a latch keeps none";
  EXPECT_EQ(withdrawn.front()->hold, barrier->hold);
}

TEST_F(request_settler_test, a_waiter_that_another_request_has_granted_gets_its_hold) {
  const auto asked = waiting("a");
  complete.granted_to_waiter(asked->hold, 8, true, holds.check_count());
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), 8);
  EXPECT_TRUE(hold->is_contended());
  EXPECT_TRUE(waiters.empty());
  holds.remove(*hold);
}

TEST_F(request_settler_test, a_grant_to_a_waiter_that_is_not_there_yet_is_counted_as_a_wake_up) {
  const auto before = wakeups();
  complete.granted_to_waiter(model::hold_id::random(), 8, false, holds.check_count());
  EXPECT_EQ(wakeups(), before + 1);
  EXPECT_TRUE(holds.empty());
}

TEST_F(request_settler_test, a_hold_that_a_check_has_missed_stays_unchecked) {
  const auto check_count = complete.check_count();
  holds.begin_check();
  const auto asked = sent("a");
  asked->check_count = check_count;
  complete.granted(asked, 7);
  const auto hold = hold_of(asked);
  EXPECT_THAT(holds.unchecked(), ElementsAre(hold));
  holds.remove(*hold);
}

TEST_F(request_settler_test, busy_is_an_answer_without_a_hold) {
  const auto asked = sent("a");
  EXPECT_TRUE(complete.busy(asked));
  EXPECT_TRUE(asked->answer.is_complete());
  EXPECT_EQ(hold_of(asked), nullptr);
  EXPECT_EQ(environment().count.busy, 1U);
  const auto left = sent("a");
  left->answer.give_up();
  EXPECT_FALSE(complete.busy(left));
}

TEST_F(request_settler_test, a_waiter_enters_the_registry_and_its_name_is_remembered) {
  const auto asked = sent("a");
  asked->note_failure(std::make_exception_ptr(error(errc::unreachable, "an outage")));
  asked->retry.failed();
  complete.queued(asked, 10s, wakeups());
  EXPECT_FALSE(asked->answer.is_complete());
  EXPECT_FALSE(asked->answer.last_failure()) << "the lock is held: that is the reason for the wait";
  EXPECT_EQ(asked->retry.failures(), 0);
  EXPECT_EQ(waiters.next_takeover(), time.now() + 10s + environment().skew());
  EXPECT_TRUE(contended.contains("a"));
  EXPECT_EQ(environment().count.waits, 1U);
  EXPECT_TRUE(asked->progress.was_queued());
  EXPECT_EQ(waiters.take(asked->hold), asked);
  complete.queued(asked, 10s, wakeups());
  EXPECT_EQ(environment().count.waits, 1U) << "a waiter that is decided again waits as before";
}

TEST_F(request_settler_test, a_waiter_is_counted_once_however_it_came_into_the_queue) {
  const auto asked = sent("a");
  asked->progress.needs_edit();  // as after a row that was locked
  complete.queued(asked, 10s, wakeups());
  EXPECT_EQ(environment().count.waits, 1U);
  EXPECT_EQ(waiters.take(asked->hold), asked);
  asked->progress.restart();  // as after the loss of its lease
  complete.queued(asked, 10s, wakeups());
  EXPECT_EQ(environment().count.waits, 1U);
}

TEST_F(request_settler_test, a_takeover_that_is_due_and_was_not_made_is_retried_with_growing_pauses) {
  const auto asked = sent("a");
  auto longest = 0ns;
  for (int i = 0; i < 12; ++i) {
    complete.queued(asked, -1s, wakeups());
    EXPECT_GT(asked->not_before, time.now()) << "a guarded transaction keeps the row of the dead holder";
    EXPECT_EQ(waiters.next_takeover(), asked->not_before);
    longest = std::max(longest, asked->not_before - time.now());
    EXPECT_EQ(waiters.take(asked->hold), asked);
  }
  EXPECT_GE(longest, 250ms);
  EXPECT_LE(longest, 500ms);
}

TEST_F(request_settler_test, who_gave_up_while_it_was_queued_is_withdrawn) {
  const auto asked = sent("a");
  asked->answer.give_up();
  complete.queued(asked, 10s, wakeups());
  EXPECT_TRUE(waiters.empty());
  const auto withdrawn = submitted().releases;
  ASSERT_EQ(withdrawn.size(), 1U);
  EXPECT_EQ(withdrawn.front()->hold, asked->hold);
}

TEST_F(request_settler_test, who_leaves_while_it_was_queued_is_decided_again) {
  const auto asked = sent("a");
  asked->answer.leave();
  complete.queued(asked, 10s, wakeups());
  EXPECT_TRUE(waiters.empty());
  EXPECT_THAT(submitted().acquires, ElementsAre(asked));
}

TEST_F(request_settler_test, who_is_queued_while_the_client_closes_is_withdrawn_and_refused) {
  queue().stop_acquires();
  waiters.close();
  const auto asked = sent("a");
  complete.queued(asked, 10s, wakeups());
  EXPECT_EQ(failure_of(asked), errc::closed);
  ASSERT_FALSE(queue().drain(time.now())) << "nothing was withdrawn";
  EXPECT_EQ(queue().take(client_layer::worker_role::everything).releases.size(), 1U);
}

TEST_F(request_settler_test, counts_releases_that_a_caller_had_and_remembers_those_that_may_be_lost) {
  const auto hold = granted_hold("a");
  const auto quick = release_of(hold, store::durability::asynchronous);
  complete.released(quick, release_result::released);
  EXPECT_EQ(result_of(quick), release_result::released);
  EXPECT_EQ(environment().count.released, 1U);
  const auto remembered = releases.all();
  releases.forget_first(1);
  ASSERT_EQ(remembered.size(), 1U);
  EXPECT_EQ(remembered.front().hold, hold->id());
  EXPECT_EQ(remembered.front().answered_at, time.now());

  complete.released(release_of(hold, store::durability::durable), release_result::released);
  complete.released(release_of(hold, store::durability::asynchronous), release_result::lost);
  EXPECT_EQ(environment().count.released, 2U);
  EXPECT_THAT(releases.all(), IsEmpty());
  const auto withdrawal = client_layer::withdrawal_of("a", hold->id(), hold->lease());
  withdrawal->how = store::durability::durable;
  complete.released(withdrawal, release_result::released);
  EXPECT_EQ(environment().count.released, 2U) << "nobody had it";
  holds.remove(*hold);
}

}  // namespace
}  // namespace rowlock::test
