// The completion scripts offer what --help offers: no more and no less.
#include "cli/cli_test.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace rowlock::test {

namespace {

using offer = std::set<std::string>;
using offers = std::map<std::string, offer>;  // the key is the command ("", "run", "epoch raise")

const std::string folder = ROWLOCK_SOURCE_DIR "/share/";
const std::string bash = folder + "bash-completion/completions/rowlock";
const std::string zsh = folder + "zsh/site-functions/_rowlock";
const std::string fish = folder + "fish/vendor_completions.d/rowlock.fish";

std::string contents(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void add_real(offers& result, const words& command) {
  auto line = command;
  line.emplace_back("--help");
  auto help = rowlock_alone(line).out;
  help.resize(help.find("Example:"));
  static const std::regex option{R"(^  (?:-\w, )?(--[a-z-]+))"};
  static const std::regex subcommand{R"(^  ([a-z]+)  )"};
  std::string name;
  for (const auto& word : command) name += (name.empty() ? "" : " ") + word;
  auto& known = result[name];
  bool is_subcommand = false;
  std::vector<std::string> found;
  std::istringstream lines{help};
  for (std::string one; std::getline(lines, one);) {
    if (one == "Subcommands:") is_subcommand = true;
    std::smatch match;
    if (std::regex_search(one, match, is_subcommand ? subcommand : option)) {
      known.insert(match[1]);
      if (is_subcommand) found.push_back(match[1]);
    }
  }
  for (const auto& next : found) {
    auto deeper = command;
    deeper.push_back(next);
    add_real(result, deeper);
  }
}

const offers& real() {
  static const offers known = [] {
    offers result;
    add_real(result, {});
    result[""].insert("help");
    return result;
  }();
  return known;
}

// Reads lines such as `    "epoch raise") offers="--above --help" ;;`.
offers in_shell_script(const std::string& path) {
  static const std::regex row{R"re(^ *"?([a-z ]*)"?\) offers="([^"]*)" ;;$)re"};
  offers result;
  std::istringstream lines{contents(path)};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    std::istringstream parts{match[2]};
    result[match[1]] = {std::istream_iterator<std::string>{parts}, {}};
  }
  return result;
}

// Reads lines such as `complete -c rowlock -n '__rowlock_at "epoch raise"' -l above -x -d '...'`.
offers in_fish_script() {
  static const std::regex row{
      R"re(^complete -c rowlock -n '__rowlock_at "([a-z ]*)"' (?:-s \w )?-(l|a) ([a-z-]+) .*$)re"};
  offers result;
  std::istringstream lines{contents(fish)};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    result[match[1]].insert((match[2] == "l" ? "--" : "") + match[3].str());
  }
  return result;
}

// What bash offers for the last of these words.
std::string completed(const words& line) {
  words arguments{"bash", "-c",
                  "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _rowlock; "
                  "echo \"${COMPREPLY[@]}\"",
                  "bash", bash};
  arguments.insert(arguments.end(), line.begin(), line.end());
  const auto result = command_process{arguments, {}}.wait();
  EXPECT_EQ(result.err, "");
  return result.out;
}

}  // namespace

TEST(completion, offers_what_help_offers) {
  EXPECT_GE(real().size(), 20U);
  EXPECT_EQ(in_shell_script(bash), real());
  EXPECT_EQ(in_shell_script(zsh), real());
  EXPECT_EQ(in_fish_script(), real());
}

TEST(completion, of_bash) {
  EXPECT_EQ(completed({"rowlock", "re"}), "release renew\n");
  EXPECT_EQ(completed({"rowlock", "run", "job", "--wa"}), "--wait\n");
  EXPECT_EQ(completed({"rowlock", "--url", "run", "rel"}), "release\n") << "run is a URL here";
  EXPECT_EQ(completed({"rowlock", "epoch", "raise", "--ab"}), "--above\n");
  EXPECT_EQ(completed({"rowlock", "migrate", "st"}), "status\n");
  EXPECT_EQ(completed({"rowlock", "list", "--js"}), "--json\n") << "a global option";
  EXPECT_EQ(completed({"rowlock", "list", "--limit", ""}), "\n") << "a value";
  EXPECT_EQ(completed({"rowlock", "run", "job", "--", "/et"}), "\n") << "the command's own words";
  EXPECT_EQ(completed({"rowlock", "migrate", "sql", "--dialect", "m"}), "mysql mariadb\n");
  EXPECT_EQ(completed({"rowlock", "list", "--sort", ""}), "name age waiters\n");
  EXPECT_EQ(completed({"rowlock", "help", "mi"}), "migrate\n");
  EXPECT_EQ(completed({"rowlock", "help", "h"}), "history\n") << "not help itself";
  EXPECT_EQ(completed({"rowlock", "help", "-"}), "\n");
  EXPECT_EQ(completed({"rowlock", "help", "migrate", "st"}), "status\n");
}

TEST(completion, of_bash_knows_the_names_of_locks) {
  const temporary_folder folder;
  const auto url = "sqlite:" + (folder.path() / "locks.db").string();
  ASSERT_EQ(rowlock_alone({"--url", url, "migrate", "up"}).exit_code, 0);
  for (const std::string name : {"billing/nightly", "billing/weekly", "two words", "quoted\""}) {
    ASSERT_EQ(rowlock_alone({"--url", url, "run", name, "--", "true"}).exit_code, 0);
  }
  const words line{ROWLOCK_COMMAND_PATH, "--url", url};
  const auto after = [&](const words& rest) {
    auto all = line;
    all.insert(all.end(), rest.begin(), rest.end());
    return completed(all);
  };
  EXPECT_EQ(after({"run", "b"}), "billing/nightly billing/weekly\n");
  EXPECT_EQ(after({"show", ""}), "billing/nightly billing/weekly two\\ words\n");
  EXPECT_EQ(after({"show", "billing/n"}), "billing/nightly\n");
  EXPECT_EQ(after({"run", "-n", "billing/w"}), "billing/weekly\n");
  EXPECT_EQ(after({"run", "job", "b"}), "\n") << "it has its name";
  EXPECT_EQ(after({"run", "--wa"}), "--wait\n");
  EXPECT_EQ(after({"gc", "b"}), "\n") << "it takes none";
  EXPECT_EQ(after({"help", "run", "b"}), "\n");
  EXPECT_EQ(completed({ROWLOCK_COMMAND_PATH, "show", "b"}), "\n") << "no database is named";
}

// The three scripts are compared with each other here, because not every machine has the other shells.
TEST(completion, offers_the_same_values_in_each_shell) {
  static const std::regex row{R"re(^ *(--[a-z]+)\) echo "([^"]*)" ;;$)re"};
  const auto values_in = [&](const std::string& path) {
    std::map<std::string, std::string> result;
    std::istringstream lines{contents(path)};
    for (std::string line; std::getline(lines, line);) {
      if (std::smatch match; std::regex_match(line, match, row)) result[match[1]] = match[2];
    }
    return result;
  };
  const auto known = values_in(bash);
  EXPECT_EQ(known.size(), 5U);
  EXPECT_EQ(values_in(zsh), known);
  const auto of_fish = contents(fish);
  for (const auto& [option, values] : known) {
    EXPECT_THAT(of_fish, testing::HasSubstr("-l " + option.substr(2) + " -x -a '" + values + "'"));
  }
}

}  // namespace rowlock::test
