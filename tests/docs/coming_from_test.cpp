// The pages in docs/coming-from map calls of other systems to rowlock's. Each line of code in a page's tables is
// executed by a test in the source of the same name in tests/docs/coming_from.
#include "docs/coming_from/coming_from.hpp"

#include "docs/document.hpp"

#include <algorithm>
#include <regex>
#include <set>

namespace rowlock::test {

ROWLOCK_FOR_EACH_STORE(coming_from_test);
ROWLOCK_FOR_EACH_SQL_STORE(coming_from_sql_test);

#ifdef ROWLOCK_TEST_SQLITE
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(coming_from_sqlite_test);
INSTANTIATE_TEST_SUITE_P(stores, coming_from_sqlite_test, testing::ValuesIn(selected_of({"sqlite"})),
                         store_test_name);
#endif
#ifdef ROWLOCK_TEST_POSTGRES
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(coming_from_postgres_test);
INSTANTIATE_TEST_SUITE_P(stores, coming_from_postgres_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);
#endif

namespace {

std::string without_extra_space(const std::string& text) {
  static const std::regex space{R"(\s+)"};
  return std::regex_replace(text, space, " ");
}

// The names of the pages: "redisson".
std::set<std::string> page_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{source_path("docs/coming-from")}) {
    names.insert(entry.path().stem());
  }
  return names;
}

struct table_row {
  std::string there;
  std::string here;
};

std::vector<table_row> rows_of(const std::string& page) {
  static const std::regex cells{R"(\| (.+) \| (.+) \| (.+) \|)"};
  std::vector<table_row> rows;
  bool inside = false;
  for (const auto& line : lines_of("docs/coming-from/" + page + ".md")) {
    if (line == "| there | here | what differs |") {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && line != "|---|---|---|") {
      std::smatch row;
      const bool is_whole = std::regex_match(line, row, cells);
      EXPECT_TRUE(is_whole && std::ranges::count(line, '|') == 4) << page << ": " << line;
      if (is_whole) rows.push_back({row[1], row[2]});
    }
  }
  return rows;
}

std::vector<std::string> code_in(const std::string& cell) {
  static const std::regex span{R"(`([^`]+)`)"};
  return {std::sregex_token_iterator{cell.begin(), cell.end(), span, 1}, {}};
}

// The bodies of the page's tests, without comments.
std::string tests_of(const std::string& page) {
  auto file = page;
  std::ranges::replace(file, '-', '_');
  static const std::regex comment{R"(\s//[^\n]*)"};
  std::string bodies;
  bool inside = false;
  for (const auto& line : lines_of("tests/docs/coming_from/" + file + ".cpp")) {
    if (line == "}") inside = false;
    if (inside) bodies += std::regex_replace("\n" + line, comment, "");
    if (line.starts_with("TEST_P(coming_from_") && line.find("_test, " + file + "_") != std::string::npos) {
      inside = true;
      bodies += "\n{";
    }
  }
  return without_extra_space(bodies);
}

// Whether a test executes the code: as a whole statement, or, if it begins with `rowlock `, as a line of a shell.
bool is_run(const std::string& code, const std::string& tests) {
  if (code.starts_with("rowlock ")) return tests.find("shell(\"" + code + "\")") != std::string::npos;
  if (!code.ends_with(";")) return false;
  return std::ranges::any_of(std::string{";{}"}, [&](char before) {
    return tests.find(std::string{before} + ' ' + code) != std::string::npos;
  });
}

TEST(coming_from_pages_test, a_test_runs_each_line_of_code) {
  for (const auto& page : page_names()) {
    const auto tests = tests_of(page);
    const auto rows = rows_of(page);
    EXPECT_GE(rows.size(), 8U) << page;
    for (const auto& [there, here] : rows) {
      EXPECT_FALSE(code_in(here).empty()) << page << ", " << there << ": no code";
      for (const auto& code : code_in(here)) {
        EXPECT_TRUE(is_run(code, tests)) << page << ", " << there << ": no test runs " << code;
      }
    }
  }
}

TEST(coming_from_pages_test, each_test_source_has_a_page) {
  for (const auto& entry : std::filesystem::directory_iterator{source_path("tests/docs/coming_from")}) {
    auto name = entry.path().stem().string();
    if (name == "coming_from") continue;
    std::ranges::replace(name, '_', '-');
    EXPECT_TRUE(page_names().contains(name)) << entry.path();
  }
}

TEST(coming_from_pages_test, the_guide_lists_each_page) {
  const auto guide = text_of("docs/guide.md");
  for (const auto& page : page_names()) {
    EXPECT_THAT(guide, testing::HasSubstr("(coming-from/" + page + ".md)"));
  }
}

TEST(coming_from_pages_test, what_is_no_statement_of_a_test_is_not_run) {
  const std::string tests = "{ auto held = lock.acquire(); shell(\"rowlock list\"); }";
  EXPECT_TRUE(is_run("auto held = lock.acquire();", tests));
  EXPECT_TRUE(is_run("rowlock list", tests));
  EXPECT_FALSE(is_run("lock.acquire();", tests)) << "a part of a statement";
  EXPECT_FALSE(is_run("auto held = lock.acquire()", tests));
  EXPECT_FALSE(is_run("auto held = lock.try_acquire();", tests));
  EXPECT_FALSE(is_run("rowlock list --json", tests));
}

}  // namespace
}  // namespace rowlock::test
