// The installed package, as a stranger uses it: tests/package/run does the work and says what failed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

int run(const std::string& argument) {
  const auto build = std::filesystem::path{ROWLOCK_COMMAND_PATH}.parent_path();
  return std::system((ROWLOCK_SOURCE_DIR "/tests/package/run " + build.string() + argument).c_str());
}

}  // namespace

// By itself, because it takes most of the time.
TEST(package, compiles_as_a_part_of_another_project) {
  EXPECT_EQ(run(" compile"), 0);
}

TEST(package, does_what_a_stranger_expects) {
  EXPECT_EQ(run(""), 0);
}
