// README.md is short, and shows the files of its first program unchanged.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

namespace rowlock::test {
namespace {

TEST(readme_test, shows_the_first_program) {
  const auto readme = text_of("README.md");
  EXPECT_THAT(readme, testing::HasSubstr("\n```cpp\n" + text_of("examples/first/main.cpp") + "```\n"));
  EXPECT_THAT(readme,
              testing::HasSubstr("\n```cmake\n" + text_of("examples/first/CMakeLists.txt") + "```\n"));
}

// What only some readers need is on a page of its own.
TEST(readme_test, is_short) {
  std::istringstream words{text_of("README.md")};
  const auto count = std::distance(std::istream_iterator<std::string>{words}, {});
  EXPECT_GT(count, 600);
  EXPECT_LE(count, 1200);
}

}  // namespace
}  // namespace rowlock::test
