// docs/guide.md shows files of examples/guide, whole and unchanged; example_test.cpp runs each of them.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

struct code_block {
  std::string file;  // the file that the paragraph above the block links to; empty: none
  std::string text;
};

// Every block of C++ or shell in the guide.
std::vector<code_block> code_blocks() {
  static const std::regex link{R"(\(\.\./examples/guide/([a-z0-9_.]+)\))"};
  std::vector<code_block> blocks;
  bool inside = false;
  std::smatch file;
  std::string above;
  for (const auto& line : lines_of("docs/guide.md")) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().text += line + '\n';
    } else if (line == "```cpp" || line == "```sh") {
      blocks.push_back({std::regex_search(above, file, link) ? file[1].str() : "", ""});
      inside = true;
    } else if (!line.empty()) {
      above = line;
    }
  }
  return blocks;
}

std::set<std::string> example_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{source_path("examples/guide")}) {
    names.insert(entry.path().filename());
  }
  return names;
}

TEST(guide_test, shows_its_examples_as_they_are) {
  std::set<std::string> shown;
  for (const auto& block : code_blocks()) {
    ASSERT_NE(block.file, "") << "the line above a code block links to its file in examples/guide:\n"
                              << block.text;
    EXPECT_EQ(block.text, text_of("examples/guide/" + block.file)) << block.file;
    shown.insert(block.file);
  }
  EXPECT_EQ(shown, example_files());
}

TEST(guide_test, has_a_test_for_each_example) {
  const auto tests = text_of("tests/docs/example_test.cpp");
  for (const auto& name : example_files()) {
    EXPECT_THAT(tests, testing::HasSubstr("guide/" + name)) << "is compiled, or started";
    const auto stem = name.substr(0, name.find('.'));
    EXPECT_THAT(tests, testing::ContainsRegex("TEST_[PF]\\([a-z0-9_]*example_test, " + stem + "_")) << name;
  }
}

}  // namespace
}  // namespace rowlock::test
