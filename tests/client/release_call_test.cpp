// A release that no thread waits for.
#include "client/call/release_call.hpp"

#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class release_call_test : public client_test {
 protected:
  void release(hold held) {
    release_async(by_hand.get(), std::move(held), [this](release_result one) { got.push_back(one); });
  }

  hand_executor by_hand;
  std::vector<release_result> got;
  client db = new_client(quick_to_renew());
  client other = new_client();
};

TEST_P(release_call_test, releases_and_tells_the_executor) {
  release(mutex(db, "a").acquire());
  EXPECT_THAT(got, IsEmpty());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_THAT(got, ElementsAre(release_result::released));
  EXPECT_FALSE(is_held("a"));
}

TEST_P(release_call_test, hands_over_to_the_first_waiter) {
  hold held = mutex(db, "a").acquire();
  auto next = waiting(other, "a");
  release(std::move(held));
  EXPECT_TRUE(next.take());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_THAT(got, ElementsAre(release_result::released));
}

TEST_P(release_call_test, without_a_function_nobody_waits_or_hears) {
  release_async(mutex(db, "a").acquire());
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
  release_async({});
}

// Without this order the acquire, which its caller's thread sends, would nearly always be the first of the two. Another
// client may have the lock's row, or SQLite's file, locked for a moment: then the release is late.
TEST_P(release_call_test, is_sent_before_the_next_request_for_the_lock) {
  mutex lock{db, "a"};
  shared_mutex both{db, "b"};
  int late = 0;
  for (int i = 0; i < 20; ++i) {
    hold held = lock.try_acquire();
    if (!held) ++late, held = lock.acquire();
    release_async(std::move(held));
    hold reads = both.try_acquire_shared();
    if (!reads) ++late, reads = both.acquire_shared();
    release(std::move(reads));
    hold writes = both.try_acquire();
    if (!writes) ++late, writes = both.acquire();
    release_async(std::move(writes));
  }
  EXPECT_LT(late, 15) << "of 60";
}

TEST_P(release_call_test, says_what_had_become_of_the_hold) {
  hold lost = mutex(db, "a").acquire();
  ASSERT_TRUE(admin(other).release("a"));
  ASSERT_TRUE(eventually([&] { return !lost; }));
  release(std::move(lost));
  ASSERT_TRUE(by_hand.run_one());
  hold released = mutex(db, "b").acquire();
  released.release();
  release(std::move(released));
  ASSERT_TRUE(by_hand.run_one());
  release({});
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_THAT(got, ElementsAre(release_result::lost, release_result::released, release_result::lost));
}

TEST_P(release_call_test, an_inner_hold_of_a_recursive_mutex_only_counts_down) {
  recursive_mutex again{db, "a"};
  hold outer = again.acquire();
  release(again.acquire());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_THAT(got, ElementsAre(release_result::released));
  EXPECT_TRUE(outer);
  EXPECT_EQ(holder_of("a"), outer.id().to_string());
  release(std::move(outer));
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_FALSE(is_held("a"));
}

TEST_P(release_call_test, of_a_closed_client_says_lost) {
  hold held = mutex(db, "a").acquire();
  db.close();
  release(std::move(held));
  ASSERT_EQ(by_hand.size(), 1U) << "the executor is called at once";
  by_hand.run_next();
  EXPECT_THAT(got, ElementsAre(release_result::lost));
}

TEST_P(release_call_test, is_awaited_by_a_coroutine) {
  const auto routine = [&](hold held) -> job {
    got.push_back(co_await release_on(by_hand.get(), std::move(held)));
    got.push_back(co_await release_on(by_hand.get(), hold{}));
  };
  const job run = routine(mutex(db, "a").acquire());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_FALSE(is_held("a"));
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_TRUE(run.is_over());
  run.rethrow();
  EXPECT_THAT(got, ElementsAre(release_result::released, release_result::lost));
}

TEST_P(release_call_test, goes_on_when_the_coroutine_is_destroyed) {
  const auto routine = [&](hold held) -> job {
    got.push_back(co_await release_on(by_hand.get(), std::move(held)));
  };
  { const job run = routine(mutex(db, "a").acquire()); }
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
  while (by_hand.size() > 0) by_hand.run_next();
  EXPECT_THAT(got, IsEmpty());
}

TEST_P(release_call_test, needs_an_executor_and_a_function) {
  EXPECT_EQ(code_of([&] { release_async({}, mutex(db, "a").acquire(), [](release_result) {}); }),
            errc::invalid_argument);
  EXPECT_FALSE(is_held("a"));
  EXPECT_EQ(code_of([&] { release_async(by_hand.get(), mutex(db, "a").acquire(), {}); }),
            errc::invalid_argument);
  EXPECT_FALSE(is_held("a"));
}

ROWLOCK_FOR_EACH_STORE(release_call_test);

class release_call_clock_test : public virtual_client_test {};

TEST_F(release_call_clock_test, says_unknown_when_there_is_no_answer_in_time) {
  hand_executor by_hand;
  std::optional<release_result> got;
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  faults.cut(true);
  release_async(by_hand.get(), std::move(held), [&](release_result one) { got = one; });
  ASSERT_TRUE(soon([&] { return by_hand.size() == 1; }));
  by_hand.run_next();
  EXPECT_EQ(got, release_result::unknown);
  faults.cut(false);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); })) << "it is tried until it has happened";
}

TEST_F(release_call_clock_test, a_short_time_is_up_when_it_is) {
  hand_executor by_hand;
  auto settings = calm();
  settings.close_timeout = 50ms;
  client db = new_client(settings);
  hold held = mutex(db, "a").acquire();
  faults.cut(true);
  let_the_watchdog_sleep();
  release_async(by_hand.get(), std::move(held), [](release_result) {});
  advance(50ms);
  EXPECT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  faults.cut(false);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

}  // namespace
}  // namespace rowlock::test
