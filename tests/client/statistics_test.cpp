// What a client counts, and for how long its holds were waited for and held.
#include "client/base/statistics.hpp"

#include "client/client_test.hpp"
#include "support/background.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>

namespace rowlock::test {
namespace {

TEST(duration_counts_test, a_length_is_in_the_first_bucket_that_it_fits) {
  client_layer::duration_counts lengths;
  for (const std::chrono::nanoseconds length : {0ns, 1'000'000ns, 1'000'001ns}) lengths.add(length);
  for (const std::chrono::nanoseconds length : {4h + 0ns, 4h + 1ns}) lengths.add(length);
  const auto all = lengths.read();
  EXPECT_EQ(all.count(), 5U);
  EXPECT_EQ(all.buckets[0], 2U) << "up to 1 ms";
  EXPECT_EQ(all.buckets[1], 1U);
  EXPECT_EQ(all.buckets[14], 1U) << "up to 4 hours";
  EXPECT_EQ(all.buckets[15], 1U) << "longer than all bounds";
  EXPECT_EQ(all.sum, 8h + 2ms);
}

TEST(duration_counts_test, the_bounds_rise) {
  const auto& bounds = duration_histogram::bounds;
  EXPECT_EQ(std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}), bounds.end());
}

// 32,500 holds that are held for three days each are more than nanoseconds can count.
TEST(duration_counts_test, the_sum_does_not_overflow) {
  client_layer::duration_counts lengths;
  for (int i = 0; i < 3; ++i) lengths.add(std::chrono::hours{24 * 365 * 200});
  EXPECT_EQ(lengths.read().sum, std::chrono::hours{24 * 365 * 600});
}

TEST(counters_test, all_losses_are_those_of_each_reason) {
  client_layer::counters count;
  count.lost(loss::expired).fetch_add(1);
  count.lost(loss::forced).fetch_add(2);
  count.lost(loss::gone).fetch_add(3);
  count.lost(loss::closed).fetch_add(4);
  count.lost(loss::none).fetch_add(5);
  const auto all = count.read();
  EXPECT_EQ(all.lost_expired, 1U);
  EXPECT_EQ(all.lost_forced, 2U);
  EXPECT_EQ(all.lost_gone, 3U);
  EXPECT_EQ(all.lost_closed, 4U);
  EXPECT_EQ(all.lost, 15U) << "also those of which only a release learned";
}

// Several seconds pass in these tests. Milliseconds more may pass, because the clock moves while a test waits.
class statistics_test : public virtual_client_test {
 protected:
  static constexpr std::size_t up_to_10s = 8;
  static constexpr std::size_t up_to_30s = 9;

  client db = new_client();
  client other = new_client();
};

TEST_F(statistics_test, show_how_long_a_hold_was_waited_for_and_held) {
  hold held = mutex(db, "a").acquire();
  auto asked = waiting(other, "a");
  EXPECT_EQ(other.stats().waited.count(), 0U) << "only grants count";
  advance(5s);
  held.release();
  EXPECT_EQ(db.stats().held.buckets[up_to_10s], 1U);
  EXPECT_EQ(db.stats().held.count(), 1U);
  hold got = asked.take();
  EXPECT_EQ(other.stats().waited.buckets[up_to_10s], 1U);
  EXPECT_GE(other.stats().waited.sum, 5s);
  EXPECT_EQ(other.stats().held.count(), 0U);
  got.release();
  EXPECT_EQ(other.stats().held.buckets[up_to_10s], 0U) << "it is held from the grant on, not from the call";
  EXPECT_EQ(other.stats().held.count(), 1U);
}

TEST_F(statistics_test, a_busy_lock_was_not_waited_for) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  EXPECT_EQ(other.stats().waited.count(), 0U);
}

TEST_F(statistics_test, several_locks_are_waited_for_from_the_call_on) {
  mutex a{db, "a"};
  mutex b{db, "b"};
  mutex c{db, "c"};
  hold first = mutex(other, "b").acquire();
  hold second = mutex(other, "c").acquire();
  auto asked = in_background([&] { return acquire_all({a, b, c}); });
  ASSERT_TRUE(soon([&] { return queued("b") == 1; }));
  advance(6s);
  first.release();
  ASSERT_TRUE(soon([&] { return queued("c") == 1; }));
  advance(6s);
  second.release();
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(asked.get());
  const auto waited = db.stats().waited;
  EXPECT_EQ(waited.count(), 3U);
  EXPECT_EQ(waited.buckets[up_to_10s], 1U) << "b";
  EXPECT_EQ(waited.buckets[up_to_30s], 1U) << "c, which was requested alone once b was granted";
}

TEST_F(statistics_test, a_hold_that_moves_to_a_lease_of_its_own_is_held_since_its_grant) {
  mutex a{db, "a"};
  mutex b{db, "b"};
  hold first = mutex(other, "b").acquire();
  auto asked = in_background([&] { return acquire_all({a, b}, {.ttl = 1min}); });
  ASSERT_TRUE(soon([&] { return queued("b") == 1; }));
  advance(6s);
  first.release();
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  asked.get().release();
  const auto held = db.stats().held;
  EXPECT_EQ(held.count(), 2U) << "the move ends none";
  EXPECT_EQ(held.buckets[up_to_10s], 1U) << "a";
  EXPECT_EQ(db.stats().waited.count(), 2U);
}

TEST_F(statistics_test, a_lost_hold_was_held_until_its_holder_was_told) {
  const hold held = mutex(db, "a").acquire();
  const auto stop = held.stop_token();
  faults.cut(true);
  time.advance(28'970ms);
  ASSERT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return db.stats().held.count() == 1; }));
  EXPECT_EQ(db.stats().held.buckets[up_to_30s], 1U);
  EXPECT_EQ(db.stats().lost_expired, 1U);
  EXPECT_EQ(db.stats().lost, 1U);
}

TEST_F(statistics_test, a_hold_that_the_close_ends_is_lost_and_counts_once) {
  const hold held = mutex(db, "a").acquire();
  db.close();
  EXPECT_EQ(holder_of("a"), "") << "it was released";
  EXPECT_EQ(db.stats().lost_closed, 1U);
  EXPECT_EQ(db.stats().held.count(), 1U);
}

TEST_F(statistics_test, a_transferred_hold_does_not_end_and_is_granted_to_its_adopter) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  EXPECT_EQ(db.stats().held.count(), 0U);
  hold adopted = adopt(other, text);
  ASSERT_TRUE(adopted);
  EXPECT_EQ(other.stats().waited.count(), 1U);
  adopted.release();
  EXPECT_EQ(other.stats().held.count(), 1U);
}

}  // namespace
}  // namespace rowlock::test
