// README.md shows the files of its first program unchanged.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

TEST(readme_test, shows_the_first_program) {
  const auto readme = text_of("README.md");
  EXPECT_THAT(readme, testing::HasSubstr("\n```cpp\n" + text_of("examples/first/main.cpp") + "```\n"));
  EXPECT_THAT(readme,
              testing::HasSubstr("\n```cmake\n" + text_of("examples/first/CMakeLists.txt") + "```\n"));
}

}  // namespace
}  // namespace rowlock::test
