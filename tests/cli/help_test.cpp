#include "cli/cli_test.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace rowlock::test {

using testing::HasSubstr;

namespace {

const std::vector<words> commands{{},
                                  {"run"},
                                  {"elect"},
                                  {"acquire"},
                                  {"renew"},
                                  {"list"},
                                  {"watch"},
                                  {"history"},
                                  {"show"},
                                  {"queue"},
                                  {"release"},
                                  {"sweep"},
                                  {"gc"},
                                  {"guard"},
                                  {"epoch"},
                                  {"epoch", "show"},
                                  {"epoch", "raise"},
                                  {"epoch", "skew"},
                                  {"doctor"},
                                  {"serve"},
                                  {"migrate"},
                                  {"migrate", "up"},
                                  {"migrate", "down"},
                                  {"migrate", "status"},
                                  {"migrate", "verify"},
                                  {"migrate", "adopt"},
                                  {"migrate", "grants"},
                                  {"migrate", "sql"}};

command_result help_of(words command) {
  command.push_back("--help");
  return rowlock_alone(command);
}

// The text of the manual page, without troff's escapes.
std::string man_page() {
  std::ifstream file{ROWLOCK_SOURCE_DIR "/docs/rowlock.1"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  return std::regex_replace(text, std::regex{R"(\\f[BIR]|\\)"}, "");
}

std::set<std::string> options_in(const std::string& text) {
  static const std::regex option{R"(--[a-z][a-z-]+)"};
  return {std::sregex_token_iterator{text.begin(), text.end(), option}, {}};
}

}  // namespace

TEST(help, ends_in_an_example) {
  for (const auto& command : commands) {
    const auto result = help_of(command);
    EXPECT_EQ(result.exit_code, 0) << testing::PrintToString(command);
    EXPECT_THAT(result.out, HasSubstr("Example:\n  ")) << testing::PrintToString(command);
    EXPECT_EQ(result.err, "");
  }
}

TEST(help, fits_a_terminal_and_says_nothing_that_only_a_parser_needs) {
  for (const auto& command : commands) {
    const auto out = help_of(command).out;
    std::istringstream lines{out};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    for (const std::string noise : {"Excludes:", "Needs:", "REQUIRED", "(Env:", ":{", " in ["}) {
      EXPECT_THAT(out, testing::Not(HasSubstr(noise))) << testing::PrintToString(command);
    }
  }
}

TEST(help, has_two_columns) {
  const auto out = help_of({"run"}).out;
  EXPECT_THAT(out, HasSubstr("\n  NAME                        The lock's name\n"));
  EXPECT_THAT(out, HasSubstr("\n  -w, --wait DURATION         Give up after this time"));
  EXPECT_THAT(
      out, HasSubstr("\n  -E, --conflict-exit-code CODE\n                              Exit code for busy"));
  EXPECT_THAT(help_of({"acquire"}).out, testing::ContainsRegex("--ttl DURATION [^-]*; required\n"));
  EXPECT_THAT(help_of({}).out, testing::ContainsRegex("--prefix TEXT [^-]*; also ROWLOCK_PREFIX\n"));
}

TEST(help, shows_where_the_command_to_run_stands) {
  for (const std::string command : {"run", "elect"}) {
    EXPECT_THAT(help_of({command}).out,
                HasSubstr("Usage: rowlock " + command + " [OPTIONS] NAME -- COMMAND [ARGUMENT ...]\n"));
  }
}

// Each command's section of the page names what the command's --help offers. (A section may also speak of
// another command's options.)
TEST(help, and_man_page_tell_the_same_of_each_command) {
  static const std::regex heading{R"(\.SS ([a-z]+(?: [a-z]+)*))"};
  std::map<std::string, std::set<std::string>> told;
  std::string command;
  std::istringstream page{man_page()};
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    if (line.starts_with(".SH")) command.clear();
    if (std::regex_search(line, found, heading)) command = found[1];
    if (!command.empty()) told[command].merge(options_in(line));
  }
  const std::set<std::string> global{"--help", "--url", "--prefix", "--schema", "--json"};
  for (const auto& [name, options] : told) {
    std::istringstream parts{name};
    const auto help = help_of({std::istream_iterator<std::string>{parts}, {}}).out;
    auto offered = options_in(help.substr(0, help.find("Example:")));
    for (const auto& one : global) offered.erase(one);
    EXPECT_THAT(offered, testing::IsSubsetOf(options)) << name;
  }
  EXPECT_GE(told.size(), commands.size() - 3) << "sections were not found";
}

TEST(help, and_man_page_tell_the_same) {
  const auto page = man_page();
  std::set<std::string> offered;
  for (const auto& command : commands) {
    if (!command.empty()) {
      EXPECT_THAT(page, HasSubstr(command.back()));
    }
    offered.merge(options_in(help_of(command).out));
  }
  EXPECT_EQ(options_in(page), offered);
}

TEST(help, version_is_the_librarys) {
  const auto result = rowlock_alone({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  std::ifstream file{ROWLOCK_SOURCE_DIR "/include/rowlock/config.hpp"};
  const std::string config{std::istreambuf_iterator<char>{file}, {}};
  std::smatch version;
  ASSERT_TRUE(std::regex_search(config, version, std::regex{"ROWLOCK_VERSION \"([^\"]+)\""}));
  EXPECT_EQ(result.out, "rowlock " + version[1].str() + "\n");
  EXPECT_THAT(man_page(), HasSubstr("rowlock " + version[1].str()));
}

}  // namespace rowlock::test
