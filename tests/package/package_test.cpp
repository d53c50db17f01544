// The installed package, as a stranger uses it: tests/package/run does the work and says what failed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

TEST(package, does_what_a_stranger_expects) {
  const auto build = std::filesystem::path{ROWLOCK_COMMAND_PATH}.parent_path();
  const auto command = ROWLOCK_SOURCE_DIR "/tests/package/run " + build.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}
