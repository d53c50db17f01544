#include "model/lock.hpp"

#include <gtest/gtest.h>

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
  for (const std::int64_t recorded : {0, 999, 1000, 1001, 5'000'000}) {
    for (const std::int64_t apart : {1, 59, 60, 64, 4095}) {
      EXPECT_GT(next_epoch(recorded, 1000), recorded);
      EXPECT_NE(next_epoch(recorded, 1000), next_epoch(recorded, 1000 + apart)) << recorded << ' ' << apart;
    }
  }
  EXPECT_EQ(next_epoch(999, 1000), 1000);
}

}  // namespace
}  // namespace rowlock::model
