// Unfair locks: a request is granted whenever the lock is free, and no wake-up is lost.
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <atomic>
#include <future>
#include <vector>

namespace rowlock::test {
namespace {

constexpr lock_options unfair{.fair = false};

class unfair_test : public client_test {
 protected:
  std::future<hold> waiting_for(mutex& wanted) {
    const auto before = queued(wanted.name());
    auto result = in_background([&wanted] { return wanted.acquire(); });
    EXPECT_TRUE(eventually([&] { return queued(wanted.name()) == before + 1; }));
    return result;
  }

  client db = new_client();
  client other = new_client();
};

TEST_P(unfair_test, another_fairness_than_the_stored_one_is_refused_in_each_state) {
  mutex fair{db, "a"};
  mutex not_fair{other, "a", unfair};
  EXPECT_TRUE(fair.try_acquire());
  EXPECT_EQ(code_of([&] { std::ignore = not_fair.try_acquire(); }), errc::mismatch) << "free";
  const hold held = fair.acquire();
  EXPECT_EQ(code_of([&] { std::ignore = not_fair.try_acquire(); }), errc::mismatch) << "held";
  EXPECT_EQ(code_of([&] { std::ignore = not_fair.acquire(); }), errc::mismatch);
}

TEST_P(unfair_test, a_waiter_is_woken_by_a_release) {
  mutex here{db, "a", unfair};
  mutex there{other, "a", unfair};
  hold held = here.acquire();
  auto waiter = waiting_for(there);
  EXPECT_EQ(held.release(), release_result::released);
  ASSERT_EQ(waiter.wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(waiter.get());
  EXPECT_EQ(queued("a"), 0U);
}

TEST_P(unfair_test, a_waiter_in_the_same_client_is_woken_too) {
  mutex here{db, "a", unfair};
  hold held = here.acquire();
  auto waiter = waiting_for(here);
  EXPECT_EQ(held.release(), release_result::released);
  ASSERT_EQ(waiter.wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(waiter.get());
}

TEST_P(unfair_test, many_that_want_it_all_the_time_exclude_each_other_and_all_come_to_an_end) {
  std::atomic<int> inside{0};
  std::atomic<int> violations{0};
  std::atomic<std::int64_t> last{0};
  const auto work = [&](const client& mine) {
    mutex wanted{mine, "a", unfair};
    for (int i = 0; i < 10; ++i) {
      const hold held = wanted.acquire();
      if (inside.fetch_add(1) != 0 || last.exchange(held.token().value()) >= held.token().value())
        ++violations;
      inside.fetch_sub(1);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&, i] { work(i % 2 == 0 ? db : other); });
  threads.clear();
  EXPECT_EQ(violations, 0);
  EXPECT_EQ(queued("a"), 0U);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(unfair_test, small_requests_pass_a_large_one_at_a_semaphore) {
  counting_semaphore slots{db, "s", 3, {.fair = false}};
  hold two = slots.acquire(2);
  auto large = in_background([&] { return slots.acquire(3); });
  ASSERT_TRUE(eventually([&] { return queued("s") == 1; }));
  EXPECT_TRUE(slots.try_acquire(1)) << "and releases it";
  EXPECT_NE(large.wait_for(0s), std::future_status::ready);
  two.release();
  EXPECT_TRUE(large.get());
}

ROWLOCK_FOR_EACH_STORE(unfair_test);

// While no time passes, nobody looks for the waiters.
class unfair_clock_test : public virtual_client_test {
 protected:
  client db = new_client();
  client other = new_client();
};

TEST_F(unfair_clock_test, a_request_overtakes_the_waiter_until_a_sweep_looks_for_it) {
  mutex here{db, "a", unfair};
  hold held = here.acquire();
  auto waits = in_background([&] { return mutex(other, "a", unfair).acquire(); });
  ASSERT_TRUE(soon([&] { return queued("a") == 1; }));
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(holder_of("a"), "") << "it is not handed over";
  held = here.try_acquire();
  ASSERT_TRUE(held) << "it overtakes";
  EXPECT_EQ(queued("a"), 1U);
  held = {};
  EXPECT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(queued("a"), 0U);
}

// The client that released is gone, so it wakes no waiter: the waiters' own poll finds the free permits.
class unfair_semaphore_clock_test : public unfair_clock_test {
 protected:
  std::future<hold> waiting_for_one() {
    hold three = counting_semaphore{third, "s", 4, {.fair = false}}.acquire(3);
    held.push_back(std::move(three));
    auto result = in_background([this] {
      return counting_semaphore{other, "s", 4, {.fair = false}}.acquire();
    });
    EXPECT_TRUE(soon([&] { return queued("s") == 1; }));
    return result;
  }

  client third = new_client();
  std::vector<hold> held;
};

TEST_F(unfair_semaphore_clock_test, a_waiter_finds_what_a_closed_client_left) {
  const hold one = counting_semaphore{db, "s", 4, {.fair = false}}.acquire();
  auto waits = waiting_for_one();
  db.close();
  EXPECT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
}

TEST_F(unfair_semaphore_clock_test, a_waiter_finds_what_was_freed_by_a_release_whose_answer_was_lost) {
  hold one = counting_semaphore{db, "s", 4, {.fair = false}}.acquire();
  auto waits = waiting_for_one();
  faults.lose_answer("release");
  auto released = in_background([&] { return one.release(); });
  EXPECT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
}

}  // namespace
}  // namespace rowlock::test
