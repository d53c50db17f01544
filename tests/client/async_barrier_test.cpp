// Asynchronous arrivals at a barrier, on every store.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <deque>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class async_barrier_test : public client_test {
 protected:
  std::function<void(arrived)> keep() {
    return [this](const arrived& one) { got.push_back(one); };
  }
  bool is_queued(std::size_t count) {
    return eventually([&] { return queued("phase") == count; });
  }
  // Whether nothing of a generation remains except the number of the latest.
  bool is_clean() {
    return eventually([&] {
      const auto found = side().show("phase");
      return queued("phase") == 0 && found && found->holders.empty() && !found->row.has_queue;
    });
  }
  std::optional<errc> latest_failure() const {
    return got.back().failure ? std::optional{got.back().failure->kind()} : std::nullopt;
  }

  hand_executor by_hand;
  std::vector<arrived> got;
  client db = new_client();
  client other = new_client();
  barrier phase{db, "phase", 3};
  barrier there{other, "phase", 3};
};

TEST_P(async_barrier_test, all_continue_with_one_number_and_may_meet_again) {
  std::int64_t before = 0;
  for (int round = 0; round < 2; ++round) {
    got.clear();
    arrive_async(by_hand.get(), phase, keep());
    arrive_async(by_hand.get(), there, 1h, keep());
    ASSERT_TRUE(is_queued(2));
    EXPECT_EQ(by_hand.size(), 0U);
    const auto number = there.arrive_and_wait();
    ASSERT_TRUE(by_hand.run_one() && by_hand.run_one());
    ASSERT_EQ(got.size(), 2U);
    for (const auto& one : got) {
      EXPECT_TRUE(one && !one.failure);
      EXPECT_EQ(one.generation, number);
    }
    EXPECT_GT(number, before);
    before = number;
    EXPECT_TRUE(is_clean());
  }
}

TEST_P(async_barrier_test, a_time_that_is_up_breaks_the_generation) {
  for (const auto timeout : {20ms, 0ms, -1ms}) {
    arrive_async(by_hand.get(), phase, timeout, keep());
    ASSERT_TRUE(by_hand.run_one());
    EXPECT_FALSE(got.back() || got.back().failure);
  }
  EXPECT_TRUE(is_clean());
  arrive_async(by_hand.get(), there, keep());
  ASSERT_TRUE(is_queued(1));
  arrive_async(by_hand.get(), phase, 20ms, keep());
  ASSERT_TRUE(by_hand.run_one() && by_hand.run_one());
  int broken = 0;
  for (auto one = got.end() - 2; one != got.end(); ++one) {
    EXPECT_FALSE(*one);
    if (one->failure && one->failure->code() == errc::broken_barrier) ++broken;
  }
  EXPECT_EQ(broken, 1);
  EXPECT_TRUE(is_clean());
}

TEST_P(async_barrier_test, a_stop_breaks_the_generation) {
  std::stop_source stop;
  arrive_async(by_hand.get(), phase, keep(), stop.get_token());
  ASSERT_TRUE(is_queued(1));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(latest_failure(), errc::cancelled);
  arrive_async(by_hand.get(), phase, 1h, keep(), stop.get_token());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_FALSE(got.back() || got.back().failure) << "the timed one is empty";
  EXPECT_TRUE(is_clean());
}

TEST_P(async_barrier_test, says_what_was_wrong) {
  arrive_async(by_hand.get(), phase, keep());
  ASSERT_TRUE(is_queued(1));
  arrive_async(by_hand.get(), barrier{db, "phase", 2}, keep());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(latest_failure(), errc::mismatch);
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(latest_failure(), errc::closed);
  const auto never = [](const arrived&) { ADD_FAILURE() << "it was refused"; };
  EXPECT_EQ(code_of([&] { arrive_async({}, there, never); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { arrive_async(by_hand.get(), there, nullptr); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { arrive_async(by_hand.get(), phase, never); }), errc::closed);
  EXPECT_TRUE(is_clean());
}

job note_each(executor where, const barrier& at, std::vector<std::int64_t>& noted) {
  if (const auto number = co_await arrive_on(where, at, 20ms)) noted.push_back(*number);
  noted.push_back(co_await arrive_on(where, at));
  noted.push_back((co_await arrive_on(where, at, 1h)).value_or(0));
}

TEST_P(async_barrier_test, a_coroutine_arrives) {
  std::vector<std::int64_t> noted;
  const barrier pair{db, "phase", 2};
  barrier same{other, "phase", 2};
  const auto work = note_each(by_hand.get(), pair, noted);
  ASSERT_TRUE(by_hand.run_one()) << "its time is up";
  ASSERT_TRUE(is_queued(1));
  const auto first = same.arrive_and_wait();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(is_queued(1));
  const auto second = same.arrive_and_wait();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(work.is_over());
  EXPECT_NO_THROW(work.rethrow());
  EXPECT_THAT(noted, ElementsAre(first, second));
}

job arrive_once(executor where, const barrier& at, bool& went_on, std::stop_token stop = {}) {
  co_await arrive_on(where, at, stop);
  went_on = true;
}

TEST_P(async_barrier_test, a_coroutine_is_thrown_what_the_blocking_call_throws) {
  bool went_on = false;
  std::stop_source stop;
  const auto cancelled = arrive_once(by_hand.get(), phase, went_on, stop.get_token());
  ASSERT_TRUE(is_queued(1));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(code_of([&] { cancelled.rethrow(); }), errc::cancelled);
  db.close();
  const auto refused = arrive_once(by_hand.get(), phase, went_on);
  EXPECT_TRUE(refused.is_over()) << "without being suspended";
  EXPECT_EQ(code_of([&] { refused.rethrow(); }), errc::closed);
  EXPECT_FALSE(went_on);
}

job arrive_within_an_hour(executor where, const barrier& at, std::optional<std::int64_t>& number,
                          std::stop_token stop) {
  number = co_await arrive_on(where, at, 1h, stop);
}

TEST_P(async_barrier_test, a_coroutine_with_a_limit_that_is_stopped_gets_no_number) {
  std::optional<std::int64_t> number = -1;
  std::stop_source stop;
  const auto work = arrive_within_an_hour(by_hand.get(), phase, number, stop.get_token());
  ASSERT_TRUE(is_queued(1));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(work.is_over());
  EXPECT_NO_THROW(work.rethrow());
  EXPECT_FALSE(number);
  EXPECT_TRUE(is_clean());
}

TEST_P(async_barrier_test, a_coroutine_that_is_destroyed_breaks_the_generation) {
  bool went_on = false;
  auto work = std::make_optional(arrive_once(by_hand.get(), phase, went_on));
  ASSERT_TRUE(is_queued(1));
  arrive_async(by_hand.get(), there, keep());
  ASSERT_TRUE(is_queued(2));
  work.reset();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(latest_failure(), errc::broken_barrier);
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(by_hand.size(), 0U);
  EXPECT_FALSE(went_on);
}

TEST_P(async_barrier_test, hundreds_of_waits_need_no_thread_each) {
  std::deque<barrier> phases;
  constexpr std::size_t many = 100;
  for (std::size_t i = 0; i < many; ++i) phases.emplace_back(db, "phase " + std::to_string(i), 2);
  for (const auto& one : phases) arrive_async(by_hand.get(), one, keep());
  for (const auto& one : phases) arrive_async(by_hand.get(), one, keep());
  for (std::size_t i = 0; i < 2 * many; ++i) ASSERT_TRUE(by_hand.run_one());
  for (const auto& one : got) EXPECT_TRUE(one);
}

ROWLOCK_FOR_EACH_STORE(async_barrier_test);

}  // namespace
}  // namespace rowlock::test
