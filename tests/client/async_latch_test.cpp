// Asynchronous waits for a latch, on every store.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class async_latch_test : public client_test {
 protected:
  std::function<void(waited)> keep() {
    return [this](const waited& one) { got.push_back(one); };
  }
  bool is_queued(std::size_t count) {
    return eventually([&] { return queued("loaded") == count; });
  }

  hand_executor by_hand;
  std::vector<waited> got;
  client db = new_client();
  client other = new_client();
  latch loaded{db, "loaded", 2};
  latch same{other, "loaded", 2};
};

TEST_P(async_latch_test, all_are_told_when_it_opens) {
  wait_async(by_hand.get(), loaded, keep());
  wait_async(by_hand.get(), same, 1h, keep());
  ASSERT_TRUE(is_queued(2));
  loaded.count_down();
  EXPECT_EQ(by_hand.size(), 0U);
  same.count_down();
  ASSERT_TRUE(by_hand.run_one() && by_hand.run_one());
  ASSERT_EQ(got.size(), 2U);
  for (const auto& one : got) EXPECT_TRUE(one && !one.failure);
  EXPECT_EQ(queued("loaded"), 0U);
  wait_async(by_hand.get(), loaded, keep());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_TRUE(got.back()) << "also who comes late";
  EXPECT_EQ(loaded.remaining(), 0) << "a wait uses nothing";
}

TEST_P(async_latch_test, a_time_that_is_up_leaves_nothing) {
  for (const auto timeout : {20ms, 0ms, -1ms}) {
    wait_async(by_hand.get(), loaded, timeout, keep());
    ASSERT_TRUE(by_hand.run_one());
    EXPECT_FALSE(got.back());
    EXPECT_FALSE(got.back().failure);
    EXPECT_TRUE(is_queued(0));
  }
  loaded.count_down(2);
  wait_async(by_hand.get(), loaded, 0s, keep());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_TRUE(got.back());
}

TEST_P(async_latch_test, a_stop_cancels_and_leaves_nothing) {
  std::stop_source stop;
  wait_async(by_hand.get(), loaded, keep(), stop.get_token());
  ASSERT_TRUE(is_queued(1));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  wait_async(by_hand.get(), loaded, 1h, keep(), stop.get_token());
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.front().failure);
  EXPECT_EQ(got.front().failure->code(), errc::cancelled);
  EXPECT_FALSE(got.back() || got.back().failure) << "the timed one is empty";
  EXPECT_TRUE(is_queued(0));
}

TEST_P(async_latch_test, says_what_was_wrong) {
  wait_async(by_hand.get(), latch{db, "loaded", 2}, keep());
  ASSERT_TRUE(is_queued(1));
  wait_async(by_hand.get(), latch{db, "loaded", 3}, keep());
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back().failure);
  EXPECT_EQ(got.back().failure->code(), errc::mismatch);
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back().failure);
  EXPECT_EQ(got.back().failure->code(), errc::closed);
  EXPECT_EQ(code_of([&] { wait_async({}, same, keep()); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { wait_async(by_hand.get(), same, nullptr); }), errc::invalid_argument);
  EXPECT_TRUE(is_queued(0));
}

TEST_P(async_latch_test, nobody_is_told_of_what_its_executor_drops) {
  wait_async(by_hand.get(), loaded, keep());
  ASSERT_TRUE(is_queued(1));
  same.count_down(2);
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  by_hand.drop_next();
  EXPECT_THAT(got, IsEmpty());
  EXPECT_TRUE(same.try_wait()) << "it stays open";
}

job note_each(executor where, const latch& on, std::vector<bool>& noted) {
  noted.push_back(co_await wait_on(where, on, 20ms));
  noted.push_back(co_await wait_on(where, on));
  noted.push_back(co_await wait_on(where, on, 0s));
}

TEST_P(async_latch_test, a_coroutine_waits_for_it) {
  std::vector<bool> noted;
  const auto work = note_each(by_hand.get(), loaded, noted);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_THAT(noted, ElementsAre(false));
  ASSERT_TRUE(is_queued(1));
  same.count_down(2);
  while (!work.is_over()) ASSERT_TRUE(by_hand.run_one());
  EXPECT_NO_THROW(work.rethrow());
  EXPECT_THAT(noted, ElementsAre(false, true, true));
}

TEST_P(async_latch_test, a_coroutine_that_is_destroyed_leaves_the_queue) {
  std::vector<bool> noted;
  auto work = std::make_optional(note_each(by_hand.get(), loaded, noted));
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(is_queued(1));
  work.reset();
  EXPECT_TRUE(is_queued(0));
  EXPECT_EQ(by_hand.size(), 0U);
}

ROWLOCK_FOR_EACH_STORE(async_latch_test);

}  // namespace
}  // namespace rowlock::test
