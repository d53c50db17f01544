#include "contract/contract_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

using store::wakeup;

class wakeup_test : public contract_test {
 protected:
  // b is the connection of the waiter's process, a that of the process that hands over.
  claim listening_waiter() {
    const auto waiter = queued("a");
    b->listen(waiter.lease);
    return waiter;
  }
  // In the other stores a wake-up names no waiter, so a client polls for all of its waiters.
  static bool names_waiters() { return GetParam() == "postgres" || GetParam() == "memory"; }
  void hand_over_and_notify(const claim& waiter) {
    edit("a", hand_over);
    a->send_wakeups(std::vector<wakeup>{{waiter.lease}});
  }
};

constexpr auto long_enough = 20s;  // only a test that fails waits this long

TEST_P(wakeup_test, a_waiter_hears_that_it_was_granted) {
  held("a");
  const auto waiter = listening_waiter();
  auto heard = in_background([&] { return hears(*b, long_enough); });
  hand_over_and_notify(waiter);
  EXPECT_TRUE(heard.get());
  EXPECT_EQ(find(waiter).state, where::held);
}

TEST_P(wakeup_test, a_waiter_hears_what_was_said_before_it_waited) {
  held("a");
  const auto waiter = listening_waiter();
  hand_over_and_notify(waiter);
  EXPECT_TRUE(hears(*b, long_enough));
}

TEST_P(wakeup_test, a_waiter_hears_again_and_again) {
  const auto waiter = claim_to("a");
  b->listen(waiter.lease);
  for (int i = 0; i < 5; ++i) {
    edit("a", enqueue(waiter.lease, hold_id::random()));
    a->send_wakeups(std::vector<wakeup>{{waiter.lease}});
    EXPECT_TRUE(hears(*b, long_enough)) << "in round " << i;
  }
}

TEST_P(wakeup_test, a_waiter_hears_no_word_twice) {
  held("a");
  const auto waiter = listening_waiter();
  hand_over_and_notify(waiter);
  EXPECT_TRUE(hears(*b, long_enough));
  // The notification and the write may each wake the waiter once for one change. No more wake-ups may follow.
  int more = 0;
  while (more < 10 && hears(*b, 50ms)) ++more;
  EXPECT_LT(more, 3);
}

TEST_P(wakeup_test, a_session_hears_for_several_clients) {
  held("a");
  listening_waiter();
  const auto second = listening_waiter();
  while (hears(*b, 0ns)) {
  }
  edit("a", hand_over);
  a->send_wakeups(std::vector<wakeup>{{new_lease()}, {second.lease}});
  EXPECT_TRUE(hears(*b, long_enough));
}

TEST_P(wakeup_test, others_are_not_woken) {
  ROWLOCK_NEEDS(targeted_wakeups);
  held("a");
  const auto waiter = queued("a");
  b->listen(new_lease());
  hand_over_and_notify(waiter);
  EXPECT_FALSE(hears(*b, 100ms));
}

// A wake-up names all waiters that it is for, or none.
TEST_P(wakeup_test, a_waiter_is_named_to_its_client) {
  ROWLOCK_NEEDS(targeted_wakeups);
  held("a");
  const auto waiter = listening_waiter();
  const auto second = hold_id::random();
  edit("a", hand_over);
  a->send_wakeups(std::vector<wakeup>{{waiter.lease, waiter.hold}, {waiter.lease, second}});
  std::vector<hold_id> named;
  while (hears(*b, named.size() < 2 ? long_enough : 0ns)) {
    const auto told = b->woken_waiters();
    if (!names_waiters()) {
      EXPECT_TRUE(told.empty());
      return;
    }
    ASSERT_FALSE(told.empty());
    named.insert(named.end(), told.begin(), told.end());
  }
  EXPECT_THAT(named, testing::UnorderedElementsAre(waiter.hold, second));
  EXPECT_TRUE(b->woken_waiters().empty()) << "each is named once";
}

TEST_P(wakeup_test, a_hand_over_names_the_waiter) {
  ROWLOCK_NEEDS(targeted_wakeups);
  const auto holder = held("a");
  const auto waiter = listening_waiter();
  ASSERT_TRUE(a->hand_over(holder.giving_back(), 0us));
  ASSERT_TRUE(hears(*b, long_enough));
  const auto told = b->woken_waiters();
  if (!names_waiters()) {
    EXPECT_TRUE(told.empty());
    return;
  }
  EXPECT_THAT(told, testing::ElementsAre(waiter.hold));
}

TEST_P(wakeup_test, beside_a_wake_up_of_another_kind_nobody_is_named) {
  held("a");
  const auto waiter = listening_waiter();
  edit("a", hand_over);
  // One transaction sends both wake-ups, so they are heard together.
  a->send_wakeups(std::vector<wakeup>{{waiter.lease}, {waiter.lease, waiter.hold}});
  ASSERT_TRUE(hears(*b, long_enough));
  EXPECT_TRUE(b->woken_waiters().empty());
}

TEST_P(wakeup_test, waiting_ends_at_its_timeout) {
  b->listen(new_lease());
  while (b->wait(0ns)) {
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(b->wait(50ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 45ms);
}

TEST_P(wakeup_test, wake_ends_the_wait_of_another_thread) {
  b->listen(new_lease());
  auto done = in_background([&] {
    const auto start = std::chrono::steady_clock::now();
    b->wait(long_enough);
    return std::chrono::steady_clock::now() - start;
  });
  b->end_wait();
  EXPECT_LT(done.get(), long_enough / 2);
}

TEST_P(wakeup_test, wake_before_the_wait_is_not_lost) {
  b->listen(new_lease());
  while (b->wait(0ns)) {
  }
  b->end_wait();
  const auto start = std::chrono::steady_clock::now();
  b->wait(long_enough);
  EXPECT_LT(std::chrono::steady_clock::now() - start, long_enough / 2);
}

TEST_P(wakeup_test, notifying_nobody_is_nothing) {
  EXPECT_NO_THROW(a->send_wakeups({}));
  EXPECT_NO_THROW(a->send_wakeups(std::vector<wakeup>{{lease_id::random()}}));
}

TEST_P(wakeup_test, verbs_work_between_waits) {
  const auto wanted = claim_to("a");
  b->listen(wanted.lease);
  b->wait(1ms);
  EXPECT_TRUE(acquire(*b, wanted));
  b->wait(1ms);
  EXPECT_TRUE(release(*b, wanted));
}

ROWLOCK_FOR_EACH_STORE(wakeup_test);

}  // namespace
}  // namespace rowlock::test
