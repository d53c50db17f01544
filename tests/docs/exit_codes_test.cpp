// The guide, the manual page and --help list each exit code of the command, and no other.
#include "docs/document.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace rowlock::test {
namespace {

std::set<int> numbers_in(const std::string& text, const std::string& pattern) {
  std::set<int> result;
  const std::regex number{pattern};
  for (std::sregex_iterator each{text.begin(), text.end(), number}, end; each != end; ++each) {
    result.insert(std::stoi((*each)[1]));
  }
  return result;
}

// The text between `from` and `to`.
std::string section(const std::string& text, const std::string& from, const std::string& to) {
  const auto begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  const auto first = begin + from.size();
  return text.substr(first, text.find(to, first) - first);
}

std::set<int> defined() {
  return numbers_in(text_of("src/cli/exit_code.hpp"), "\n  [a-z_]+ = ([0-9]+),");
}

TEST(exit_codes, are_in_the_table_of_the_guide) {
  auto table = section(text_of("docs/guide.md"), "## Exit codes", "\nOtherwise");
  table = std::regex_replace(table, std::regex{"\\| [^|\n]* \\|\n"}, "\n");  // removes the column of meanings
  EXPECT_EQ(numbers_in(table, "([0-9]+)"), defined());
}

TEST(exit_codes, are_in_the_manual_page) {
  const auto page = section(text_of("docs/rowlock.1"), ".SH EXIT STATUS", ".SH ENVIRONMENT");
  std::string heads;
  const std::regex head{"\\.TP\n\\.BR? ([^\n]*)"};
  for (std::sregex_iterator each{page.begin(), page.end(), head}, end; each != end; ++each)
    heads += (*each)[1].str() + '\n';
  EXPECT_EQ(numbers_in(heads, "([0-9]+)"), defined());
}

// Without the codes of the shell, 126 and above.
TEST(exit_codes, are_in_the_help) {
  auto expected = defined();
  expected.erase(expected.upper_bound(124), expected.end());
  const auto help = section(text_of("src/cli/main.cpp"), "Exit codes:", "};");
  EXPECT_EQ(numbers_in(help, "([0-9]+)"), expected);
}

}  // namespace
}  // namespace rowlock::test
