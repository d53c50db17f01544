#include "model/lock.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace rowlock::model {
namespace {

TEST(lock_test, kinds_come_back_from_their_names) {
  EXPECT_STREQ(to_string(lock_kind::mutex), "mutex");
  EXPECT_EQ(parse_lock_kind("mutex"), lock_kind::mutex);
}

TEST(lock_test, kinds_of_later_versions_are_unknown) {
  EXPECT_EQ(parse_lock_kind("quorum"), lock_kind::unknown);
  EXPECT_STREQ(to_string(lock_kind::unknown), "unknown");
}

TEST(lock_test, next_token_is_above_the_stored_one_and_at_least_the_floor) {
  EXPECT_EQ(next_token(5, 0), 6);
  EXPECT_EQ(next_token(5, 6), 6);
  EXPECT_EQ(next_token(5, 100), 100);
  EXPECT_EQ(next_token(100, 100), 101);
}

TEST(lock_test, tokens_stay_below_2_to_the_53_for_a_century) {
  constexpr std::int64_t seconds_of_a_century = std::int64_t{100} * 366 * 24 * 3600;
  EXPECT_LT(epoch_floor(seconds_of_a_century), token{1} << 53);
  EXPECT_LT(epoch_floor(7) + ((token{1} << epoch_shift) - 1), epoch_floor(8));
  EXPECT_EQ(epoch_of(epoch_floor(8) - 1), 7);
}

TEST(lock_test, epochs_rise_and_two_promotions_of_one_record_differ) {
  const auto now = epoch_floor(1000) + 12345;
  for (const std::int64_t recorded : {0, 999, 1000, 1001, 5'000'000}) {
    for (const token stored : {token{0}, epoch_floor(recorded) + 77, epoch_floor(recorded + 3)}) {
      const auto first = next_floor(recorded, stored, now);
      EXPECT_GT(epoch_of(first), recorded) << "libraries that count in seconds see it, too";
      EXPECT_GT(first, stored);
      // The clock is ahead by a microsecond, a hand-over, a second, a minute, and just less than 4096 seconds.
      for (const token apart :
           {token{2}, token{1} << 10, epoch_floor(1), epoch_floor(60), epoch_floor(4096) - 1}) {
        EXPECT_NE(first, next_floor(recorded, stored, now + apart)) << recorded << ' ' << apart;
      }
    }
  }
  EXPECT_EQ(next_floor(999, 0, now), now);
}

TEST(lock_test, the_clock_is_a_token_in_steps_of_a_microsecond) {
  using std::chrono::microseconds;
  EXPECT_EQ(clock_token(microseconds{7'000'000}), epoch_floor(7));
  EXPECT_EQ(clock_token(microseconds{7'500'000}), epoch_floor(7) + epoch_floor(1) / 2);
  EXPECT_EQ(clock_token(microseconds{-1}), 0) << "before 2026";
  constexpr microseconds century = std::chrono::hours{24} * 36'600;
  EXPECT_LT(clock_token(century), token{1} << 53);
  for (token last = -1; const std::int64_t us : {0, 1, 2, 999'999, 1'000'000, 1'000'001}) {
    EXPECT_GT(clock_token(microseconds{us}), std::exchange(last, clock_token(microseconds{us})));
  }
}

// In an empty database no token was granted before, and names that are deleted at once must begin above their tokens.
TEST(lock_test, the_first_epoch_leaves_new_names_room_below_the_clock) {
  const auto now = epoch_floor(1'000'000) + 5;
  EXPECT_EQ(next_floor(0, 0, now), now - new_name_lag);
  EXPECT_GT(next_floor(0, 0, 17), 0) << "soon after 2026 began";
}

// The promoted server has not received the latest names of its predecessor.
TEST(lock_test, a_new_epoch_is_above_names_that_were_made_by_a_clock_that_is_less_than_a_minute_ahead) {
  const auto ahead = epoch_floor(new_name_lag_s) - 1;
  const auto promoted_at = epoch_floor(1'000'000);
  const auto lost_name = promoted_at + ahead - new_name_lag;
  EXPECT_GT(next_floor(900'000, 0, promoted_at), lost_name);
}

}  // namespace
}  // namespace rowlock::model
