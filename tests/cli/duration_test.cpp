#include "cli/duration.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::cli {

using namespace std::chrono_literals;

TEST(parse_duration, takes_a_number_and_a_unit) {
  EXPECT_EQ(parse_duration("--wait", "0"), 0ms);
  EXPECT_EQ(parse_duration("--wait", "500ms"), 500ms);
  EXPECT_EQ(parse_duration("--wait", "30s"), 30s);
  EXPECT_EQ(parse_duration("--wait", "1m"), 1min);
  EXPECT_EQ(parse_duration("--wait", "2h"), 2h);
  EXPECT_EQ(parse_duration("--wait", "1d"), 24h);
  EXPECT_EQ(parse_duration("--wait", "3652d"), 24h * 3652);
}

TEST(parse_duration, refuses_the_rest_with_the_option_and_the_text) {
  for (const std::string text : {"", "s", "30", "-1s", "+1s", "1.5s", " 1s", "1 s", "1s ", "1S", "1w", "0x1s",
                                 "ms", "3653d", "9223372036854775807d", "9223372036854775808s", "1m30s"}) {
    try {
      parse_duration("--wait", text);
      ADD_FAILURE() << text;
    } catch (const error& problem) {
      EXPECT_EQ(problem.code(), errc::invalid_argument);
      EXPECT_THAT(problem.what(), testing::HasSubstr("--wait '" + text + "'"));
      EXPECT_THAT(problem.what(), testing::HasSubstr("500ms, 30s, 1m, 2h or 1d"));
    }
  }
}

TEST(format_duration, uses_the_largest_unit_that_fits) {
  EXPECT_EQ(format_duration(0ms), "0ms");
  EXPECT_EQ(format_duration(999ms), "999ms");
  EXPECT_EQ(format_duration(1s), "1s");
  EXPECT_EQ(format_duration(12345ms), "12.3s");
  EXPECT_EQ(format_duration(90s), "1.5m");
  EXPECT_EQ(format_duration(59min), "59m");
  EXPECT_EQ(format_duration(36h), "1.5d");
  EXPECT_EQ(format_duration(-3s), "-3s");
  EXPECT_EQ(format_duration(-50ms), "-50ms");
}

}  // namespace rowlock::cli
