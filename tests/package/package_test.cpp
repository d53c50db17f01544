// The installed package, as another project uses it: tests/package/run does the work and says what failed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

int run(const std::string& argument) {
  const auto build = std::filesystem::path{ROWLOCK_COMMAND_PATH}.parent_path();
  return std::system((ROWLOCK_SOURCE_DIR "/tests/package/run " + build.string() + argument).c_str());
}

class package : public testing::Test {
 protected:
  // Each of them takes minutes of processor time, so the limit of the suite applies to it, not that of a test.
  static void SetUpTestSuite() {
    compiled = run(" compile");
    headers = run(" headers");
    used = run(" use");
  }

  static inline int compiled = -1;
  static inline int headers = -1;
  static inline int used = -1;
};

TEST_F(package, compiles_as_a_part_of_another_project) {
  EXPECT_EQ(compiled, 0);
}

TEST_F(package, has_headers_that_compile_by_themselves) {
  EXPECT_EQ(headers, 0);
}

TEST_F(package, does_what_a_stranger_expects) {
  EXPECT_EQ(used, 0);
}

}  // namespace
