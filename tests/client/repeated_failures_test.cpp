#include "client/base/repeated_failures.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;

class repeated_failures_test : public testing::Test {
 protected:
  using left_out = std::optional<std::uint64_t>;

  left_out due(const std::string& text, std::chrono::nanoseconds after_start) {
    return failures.due(text, instant{1h} + after_start);
  }

  client_layer::repeated_failures failures;
};

TEST_F(repeated_failures_test, each_text_is_due_at_once) {
  EXPECT_EQ(due("one", 0s), 0U);
  EXPECT_EQ(due("one", 0s), left_out{});
  EXPECT_EQ(due("other", 0s), 0U);
}

TEST_F(repeated_failures_test, a_text_that_repeats_is_due_at_growing_intervals_with_the_number_left_out) {
  EXPECT_EQ(due("one", 0s), 0U);
  EXPECT_EQ(due("one", 999ms), left_out{});
  EXPECT_EQ(due("one", 1s), 1U);
  EXPECT_EQ(due("one", 2s), left_out{});
  EXPECT_EQ(due("one", 2999ms), left_out{});
  EXPECT_EQ(due("one", 3s), 2U);
  EXPECT_EQ(due("one", 6s), left_out{});
  EXPECT_EQ(due("one", 7s), 1U);
}

TEST_F(repeated_failures_test, a_failure_that_lasts_is_due_once_a_minute) {
  int lines = 0;
  for (auto passed = 0s; passed < 2h; passed += 1s) lines += due("one", passed) ? 1 : 0;
  EXPECT_GE(lines, 115);
  EXPECT_LE(lines, 130);
}

TEST_F(repeated_failures_test, after_a_long_quiet_it_counts_as_new) {
  for (auto passed = 0s; passed < 10min; passed += 1s) due("one", passed);
  EXPECT_TRUE(due("one", 1h));
  EXPECT_TRUE(due("one", 1h + 1s));
  EXPECT_FALSE(due("one", 1h + 2s));
  EXPECT_TRUE(due("one", 1h + 3s));
}

// Texts may contain a number that differs each time. Then repeated failures are logged, and memory does not grow.
TEST_F(repeated_failures_test, forgets_all_when_there_are_too_many_texts) {
  EXPECT_TRUE(due("one", 0s));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(due("text " + std::to_string(i), 0s));
  EXPECT_TRUE(due("one", 0s));
}

}  // namespace
}  // namespace rowlock::test
