// docs/ported.md names tests that exist, and lists no feature as missing that rowlock now has.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

namespace rowlock::test {
namespace {

struct scenario {
  std::string peer;  // the peer's own tests
  std::string ours;  // our tests, or why there is none
};

// The rows of every table: three cells each, without the heading and the line below it.
std::vector<scenario> scenarios() {
  static const std::regex row{R"(^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$)"};
  std::vector<scenario> found;
  std::smatch cells;
  for (const auto& line : lines_of("docs/ported.md")) {
    if (!line.starts_with("| ") || line.starts_with("| its test |")) continue;
    if (std::regex_match(line, cells, row)) {
      found.push_back({cells[1], cells[3]});
    } else {
      ADD_FAILURE() << "not a row of three cells: " << line;
    }
  }
  return found;
}

// `folder/file_test.cpp` names the file of the tests that follow it as `suite.name`.
struct named_test {
  std::string file;
  std::string suite;
  std::string name;
};

std::vector<named_test> tests_in(const std::string& cell) {
  static const std::regex word{R"(`([a-z0-9_/]+_test\.cpp)`|`([a-z0-9_]+)\.([a-z0-9_]+)`)"};
  std::vector<named_test> tests;
  std::string file;
  for (std::sregex_iterator match{cell.begin(), cell.end(), word}; match != std::sregex_iterator{}; ++match) {
    if ((*match)[1].matched) {
      file = (*match)[1];
    } else {
      tests.push_back({file, (*match)[2], (*match)[3]});
    }
  }
  return tests;
}

// The word of each "not yet: word".
std::vector<std::string> missing_in(const std::string& cell) {
  static const std::regex missing{R"(not yet: `([a-z_ -]+)`)"};
  return {std::sregex_token_iterator{cell.begin(), cell.end(), missing, 1}, {}};
}

bool defines(const std::string& source, const named_test& test) {
  const std::regex definition{R"(\bTEST(_P|_F)?\()" + test.suite + R"(,\s+)" + test.name + R"(\))"};
  return std::regex_search(source, definition);
}

// what: a header's name, `rowlock COMMAND`, or an option.
bool is_offered(const std::string& what) {
  static const auto page = std::regex_replace(text_of("docs/rowlock.1"), std::regex{R"(\\)"}, "");
  if (what.starts_with("--")) return page.find(what) != std::string::npos;
  if (what.starts_with("rowlock ")) return page.find("\n.SS " + what.substr(8)) != std::string::npos;
  return std::filesystem::exists(source_path("include/rowlock/" + what + ".hpp"));
}

TEST(ported_test, names_tests_that_exist) {
  ASSERT_FALSE(scenarios().empty());
  for (const auto& [peer, ours] : scenarios()) {
    for (const auto& test : tests_in(ours)) {
      ASSERT_NE(test.file, "") << peer << ": " << test.suite << '.' << test.name << " has no file before it";
      EXPECT_TRUE(defines(text_of("tests/" + test.file), test))
          << peer << ": " << test.file << " has no " << test.suite << '.' << test.name;
    }
  }
}

TEST(ported_test, has_a_test_or_a_reason_for_each_scenario) {
  for (const auto& [peer, ours] : scenarios()) {
    EXPECT_TRUE(!tests_in(ours).empty() || !missing_in(ours).empty() || ours.starts_with("none: "))
        << peer << ": " << ours;
  }
}

TEST(ported_test, calls_nothing_missing_that_has_come) {
  for (const auto& known : {"mutex", "rowlock run", "--kill-after"}) EXPECT_TRUE(is_offered(known)) << known;
  for (const auto& [peer, ours] : scenarios()) {
    for (const auto& what : missing_in(ours)) {
      EXPECT_FALSE(is_offered(what)) << peer << ": there is " << what << " now; name the test that shows it";
    }
  }
}

}  // namespace
}  // namespace rowlock::test
