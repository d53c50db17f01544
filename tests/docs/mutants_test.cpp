// The faults that tests/mutants keeps as patches: they apply, and docs/correctness.md lists them.
#include "cli/command_process.hpp"
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> patches_in(const std::string& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator{source_path(folder)}) {
    if (entry.path().extension() == ".patch") found.insert(entry.path().stem().string());
  }
  return found;
}

TEST(mutants_test, each_patch_applies) {
  command_process check{{source_path("scripts/mutants"), "--check"}, {}};
  const auto result = check.wait();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(mutants_test, the_page_lists_each_patch_and_no_other) {
  static const std::regex name{"`([a-z]+(?:-[a-z]+)+)`"};
  std::set<std::string> listed;
  for (const auto& line : lines_of("docs/correctness.md")) {
    if (!line.starts_with("| I") && !line.starts_with("| limits") && !line.starts_with("| server")) continue;
    listed.insert(std::sregex_token_iterator{line.begin(), line.end(), name, 1}, {});
  }
  auto patches = patches_in("tests/mutants");
  patches.merge(patches_in("tests/mutants/sql"));
  EXPECT_GT(patches.size(), 30U);
  EXPECT_THAT(listed, testing::ContainerEq(patches));
}

}  // namespace
}  // namespace rowlock::test
