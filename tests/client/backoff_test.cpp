#include "client/base/backoff.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

TEST(backoff_test, each_pause_is_between_half_and_all_of_a_length_that_doubles_up_to_the_cap) {
  client_layer::backoff pause{1ms, 10ms};
  for (int round = 0; round < 100; ++round) {
    for (const auto whole : {1ms, 2ms, 4ms, 8ms, 10ms, 10ms}) {
      const auto next = pause.next();
      EXPECT_GE(2 * next, whole);
      EXPECT_LE(next, whole);
    }
    pause.reset();
  }
}

TEST(backoff_test, rivals_do_not_pause_equally_long) {
  std::set<std::chrono::microseconds> pauses;
  for (int i = 0; i < 100; ++i) pauses.insert(client_layer::backoff{1s, 1s}.next());
  EXPECT_GT(pauses.size(), 10U);
}

TEST(backoff_test, stays_at_the_cap_however_often_it_is_tried) {
  client_layer::backoff pause{1ms, 1h};
  for (int i = 0; i < 100; ++i) {
    const auto next = pause.next();
    EXPECT_GT(next, 0us);
    EXPECT_LE(next, 1h);
  }
}

}  // namespace
}  // namespace rowlock::test
