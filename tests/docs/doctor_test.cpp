// docs/operations.md lists every code of `rowlock doctor`, with its severity and its databases. The checks' tables name
// only facts that somebody reads.
#include "docs/document.hpp"
#include "store/open.hpp"
#include "store/registry.hpp"

#include <rowlock/doctor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

namespace rowlock::test {
namespace {

struct entry {
  std::string level;
  std::string where;  // P M S

  bool operator==(const entry&) const = default;
};

void PrintTo(const entry& one, std::ostream* out) {
  *out << one.level << " on " << one.where;
}

// A file is read on this machine, by this machine's clock.
bool is_possible(const store::check& check, std::string_view dialect) {
  return check.code != "clock-drift" || dialect != "sqlite";
}

std::map<std::string, entry> entries_of_the_page() {
  static const std::regex row{R"(^\| `([a-z-]+)` \| ([a-z]+) \| ([PMS ]+) \| .+ \|$)"};
  std::map<std::string, entry> found;
  std::smatch cells;
  for (const auto& line : lines_of("docs/operations.md")) {
    if (!std::regex_match(line, cells, row)) continue;
    EXPECT_TRUE(found.try_emplace(cells[1], entry{cells[2], cells[3]}).second)
        << cells[1] << " is listed twice";
  }
  return found;
}

TEST(doctor_page_test, lists_every_code) {
  const std::map<std::string, std::string> letters{{"postgres", "P"}, {"mysql", "M"}, {"sqlite", "S"}};
  std::map<std::string, entry> expected;
  for (const auto* dialect : {"postgres", "mysql", "sqlite"}) {
    std::map<std::string, std::string> levels;
    for (const auto& check : store::checks_of(dialect)) {
      if (!is_possible(check, dialect)) continue;
      auto& level = levels[std::string{check.code}];
      if (level.empty() || check.level != severity::unknown) level = to_string(check.level);
    }
    for (const auto& [code, level] : levels) {
      auto& one = expected[code];
      one.level = level;
      one.where += (one.where.empty() ? "" : " ") + letters.at(dialect);
    }
  }
  expected["refused"] = {"error", "P M S"};
  if (store::linked_dialects().size() < letters.size()) GTEST_SKIP() << "a store was not built";
  EXPECT_EQ(entries_of_the_page(), expected);
}

// A fact has its name as a literal where a store reads it.
TEST(doctor_checks_test, name_only_facts_that_are_read) {
  static const std::regex placeholder{R"(\{(\w+)\})"};
  for (const auto& dialect : store::linked_dialects()) {
    std::string sources;
    const auto store = "src/store/" + dialect + '/';
    for (const auto& path : {store + "sql/doctor.sql", store + dialect + "_doctor.cpp",
                             std::string{"src/store/server_facts.cpp"}, std::string{"src/store/open.cpp"}}) {
      sources += text_of(path);
    }
    const auto is_read = [&](const std::string& fact) {
      return sources.find('\'' + fact + '\'') != std::string::npos ||
             sources.find('"' + fact + '"') != std::string::npos;
    };
    for (const auto& check : store::checks_of(dialect)) {
      if (!is_possible(check, dialect)) continue;
      for (const auto& fact : check.when.reads)
        EXPECT_TRUE(is_read(std::string{fact})) << check.code << ": " << fact;
      for (const auto& text : {std::string{check.found}, std::string{check.why}, std::string{check.remedy}}) {
        for (std::sregex_iterator at{text.begin(), text.end(), placeholder}, end; at != end; ++at)
          EXPECT_TRUE(is_read((*at)[1])) << check.code << ": " << text;
      }
    }
  }
}

}  // namespace
}  // namespace rowlock::test
