// Asynchronous acquires of several locks, on every store.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class async_all_test : public client_test {
 protected:
  std::function<void(acquired_all)> keep() {
    return [this](acquired_all one) { got.push_back(std::move(one)); };
  }
  bool waits_for_b(std::size_t count = 1) {
    return eventually([&] { return queued("b") == count; });
  }
  bool nothing_is_left() {
    return eventually([&] { return !is_held("a") && !is_held("c") && queued("b") == 0; });
  }

  hand_executor by_hand;
  std::vector<acquired_all> got;
  client db = new_client();
  client other = new_client();
  mutex a{db, "a"}, b{db, "b"}, c{db, "c"};
};

TEST_P(async_all_test, takes_locks_of_every_kind_and_tells_them_in_the_order_asked) {
  const shared_mutex rates{db, "rates"};
  const counting_semaphore slots{db, "slots", 8};
  const election office{db, "office"};
  acquire_all_async(by_hand.get(), {b, permits(slots, 3), office, a, shared(rates)}, keep());
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back());
  const auto& all = got.back().holds;
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].name(), "b");
  EXPECT_EQ(all[1].weight(), 3);
  EXPECT_EQ(all[4].name(), "rates");
  for (const auto& one : all) EXPECT_EQ(holder_of(one.name()), one.id().to_string());
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  got.clear();
  EXPECT_FALSE(is_held("a"));
}

TEST_P(async_all_test, waits_in_the_order_of_the_names) {
  auto held = std::make_optional(mutex(other, "b").acquire());
  acquire_all_async(by_hand.get(), {c, b, a}, keep());
  ASSERT_TRUE(waits_for_b());
  try_acquire_all_async(by_hand.get(), {b, c}, 1h, keep());
  ASSERT_TRUE(waits_for_b(2));
  EXPECT_TRUE(is_held("a"));
  EXPECT_FALSE(is_held("c"));
  held.reset();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.front());
  EXPECT_EQ(got.front().holds[0].name(), "c");
  got.clear();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_TRUE(got.front());
}

TEST_P(async_all_test, busy_is_empty) {
  const hold held = mutex(other, "b").acquire();
  for (const auto timeout : {0ms, -1ms, 20ms}) {
    try_acquire_all_async(by_hand.get(), {a, b, c}, timeout, keep());
    ASSERT_TRUE(by_hand.run_one());
    EXPECT_FALSE(got.back());
    EXPECT_FALSE(got.back().failure);
    EXPECT_TRUE(nothing_is_left());
  }
}

TEST_P(async_all_test, a_stop_cancels_and_leaves_nothing) {
  const hold held = mutex(other, "b").acquire();
  std::stop_source stop;
  acquire_all_async(by_hand.get(), {a, b}, keep(), {.stop = stop.get_token()});
  ASSERT_TRUE(waits_for_b());
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back().failure);
  EXPECT_EQ(got.back().failure->code(), errc::cancelled);
  try_acquire_all_async(by_hand.get(), {a, b}, 1h, keep(), {.stop = stop.get_token()});
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_FALSE(got.back() || got.back().failure) << "the timed one is empty";
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(async_all_test, says_what_was_wrong) {
  counting_semaphore(other, "b", 3).acquire().release();
  acquire_all_async(by_hand.get(), {a, b}, keep());
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back().failure);
  EXPECT_EQ(got.back().failure->code(), errc::mismatch);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(async_all_test, refuses_at_once_what_cannot_be_right) {
  const auto never = [](const acquired_all&) { ADD_FAILURE() << "it was refused"; };
  const mutex elsewhere{other, "b"};
  EXPECT_EQ(code_of([&] { acquire_all_async(by_hand.get(), {}, never); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_all_async(by_hand.get(), {a, a}, never); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] {
              acquire_all_async(by_hand.get(), {a, elsewhere}, never);
            }),
            errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_all_async({}, {a, b}, never); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_all_async(by_hand.get(), {a, b}, nullptr); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = acquire_all_on(by_hand.get(), {}); }), errc::invalid_argument);
  db.close();
  EXPECT_EQ(code_of([&] { acquire_all_async(by_hand.get(), {a, b}, never); }), errc::closed);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_P(async_all_test, with_a_ttl_each_has_a_lease_of_its_own) {
  acquire_all_async(by_hand.get(), {a, b}, keep(), {.ttl = 20s});
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back());
  EXPECT_NE(lease_of("a"), lease_of("b"));
  for (const auto& one : got.back().holds) EXPECT_LE(one.remaining(), 20s);
}

TEST_P(async_all_test, a_client_that_closes_ends_its_waits) {
  const hold held = mutex(other, "b").acquire();
  acquire_all_async(by_hand.get(), {a, b}, keep());
  ASSERT_TRUE(waits_for_b());
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.back().failure);
  EXPECT_EQ(got.back().failure->code(), errc::closed);
  EXPECT_TRUE(nothing_is_left());
}

TEST_P(async_all_test, what_an_executor_drops_is_released) {
  acquire_all_async(by_hand.get(), {a, c}, keep());
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_TRUE(is_held("a"));
  by_hand.drop_next();
  EXPECT_TRUE(nothing_is_left());
}

job note_each(executor where, std::vector<wanted> locks, std::vector<std::size_t>& noted) {
  noted.push_back((co_await try_acquire_all_on(where, locks, 20ms)).size());
  noted.push_back((co_await acquire_all_on(where, locks)).size());
  noted.push_back((co_await try_acquire_all_on(where, locks, 0s)).size());
}

TEST_P(async_all_test, a_coroutine_awaits_all) {
  auto held = std::make_optional(mutex(other, "b").acquire());
  std::vector<std::size_t> noted;
  const auto work = note_each(by_hand.get(), {a, b}, noted);
  ASSERT_TRUE(by_hand.run_one()) << "its time is up";
  ASSERT_TRUE(waits_for_b());
  held.reset();
  while (!work.is_over()) ASSERT_TRUE(by_hand.run_one());
  EXPECT_NO_THROW(work.rethrow());
  EXPECT_THAT(noted, ElementsAre(0, 2, 2));
}

TEST_P(async_all_test, a_coroutine_that_is_destroyed_leaves_nothing) {
  const hold held = mutex(other, "b").acquire();
  std::vector<std::size_t> noted;
  auto work = std::make_optional(note_each(by_hand.get(), {a, b}, noted));
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(waits_for_b());
  work.reset();
  EXPECT_TRUE(nothing_is_left());
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_P(async_all_test, many_wait_without_a_thread_each) {
  const std::size_t many = GetParam() == "memory" ? 1000 : 50;
  auto held = std::make_optional(mutex(other, "b").acquire());
  std::vector<fencing_token> tokens;
  const auto note = [&](const acquired_all& one) {
    tokens.push_back(one ? one.holds[0].token() : fencing_token{});
  };
  for (std::size_t i = 0; i < many; ++i) acquire_all_async(by_hand.get(), {b, c}, note);
  ASSERT_TRUE(waits_for_b(many));
  held.reset();
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(by_hand.run_one());
  EXPECT_TRUE(std::ranges::is_sorted(tokens));
  EXPECT_GT(tokens.front(), fencing_token{});
  EXPECT_TRUE(nothing_is_left());
}

ROWLOCK_FOR_EACH_STORE(async_all_test);

}  // namespace
}  // namespace rowlock::test
