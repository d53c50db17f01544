// docs/operations.md lists every code of `rowlock doctor`, with its severity and its databases.
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
      // SQLite's file is read on this machine, by this machine's clock.
      if (check.code == "clock-drift" && letters.at(dialect) == "S") continue;
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

}  // namespace
}  // namespace rowlock::test
