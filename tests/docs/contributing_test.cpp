// The demands of CONTRIBUTING.md that can be checked by the text and the names of files.
#include "docs/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

// The names of the sources in a folder, without their extensions.
std::set<std::string> sources_in(const std::string& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator{source_path(folder)}) {
    if (entry.path().extension() == ".cpp") found.insert(entry.path().stem().string());
  }
  return found;
}

// The names of the tests in all folders.
std::set<std::string> tests() {
  std::set<std::string> found;
  for (const auto* folder : {"tests/client", "tests/model"}) {
    for (const auto& name : sources_in(folder)) {
      if (name.ends_with("_test")) found.insert(name.substr(0, name.size() - std::string{"_test"}.size()));
    }
  }
  return found;
}

// Sources that are tested under another name, and why.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> reasons{
      {"adopt", "half of a transfer: transfer_test"},
      {"candidacy", "what stands behind a candidate: candidate_test"},
      {"quorum_state", "a part of quorum_mutex: quorum_mutex_test"},
      {"standard_lock", "a part of mutex, shared_mutex and counting_semaphore: their tests"},
  };
  return reasons;
}

// scripts/fuzz builds them, which scripts/test does not.
TEST(contributing_test, the_sources_of_the_fuzz_targets_exist) {
  static const std::regex source{R"(\$\{src\}(/[a-z_/]+\.cpp))"};
  int found = 0;
  for (const auto& line : lines_of("tests/fuzz/CMakeLists.txt")) {
    for (std::sregex_iterator one{line.begin(), line.end(), source}, end; one != end; ++one, ++found) {
      EXPECT_TRUE(fs::exists(source_path("src" + one->str(1)))) << one->str(1);
    }
  }
  EXPECT_GT(found, 20);
}

TEST(contributing_test, a_class_its_source_and_its_test_share_a_name) {
  const auto tested = tests();
  std::set<std::string> sources;
  for (const auto* folder : {"src/client", "src/model", "src/primitives"}) {
    for (const auto& name : sources_in(folder)) {
      sources.insert(name);
      if (exceptions().contains(name)) continue;
      EXPECT_TRUE(tested.contains(name)) << folder << '/' << name << ".cpp has no " << name << "_test.cpp";
    }
  }
  EXPECT_GT(sources.size(), 50U);
  for (const auto& [name, reason] : exceptions()) {
    EXPECT_TRUE(sources.contains(name)) << "there is no " << name << ".cpp to make an exception for";
    EXPECT_FALSE(tested.contains(name)) << name << "_test.cpp exists: no exception is needed";
  }
}

// The sources and headers of src, with their paths from the top of the tree.
std::vector<std::string> sources_of_src() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator{source_path("src")}) {
    const auto end = entry.path().extension();
    if (end == ".cpp" || end == ".hpp") found.push_back(fs::relative(entry.path(), source_path("")).string());
  }
  EXPECT_GT(found.size(), 300U);
  return found;
}

// The files of src that each pair of header and source includes. A pair is named by its path without an extension.
std::map<std::string, std::set<std::string>> includes() {
  std::map<std::string, std::set<std::string>> found;
  const auto pair_of = [](const fs::path& path) { return (path.parent_path() / path.stem()).string(); };
  for (const auto& path : sources_of_src()) {
    auto& its = found[pair_of(path)];
    for (const auto& line : lines_of(path)) {
      constexpr std::string_view begin = "#include \"";
      if (!line.starts_with(begin)) continue;
      const auto named = line.substr(begin.size(), line.find('"', begin.size()) - begin.size());
      if (fs::exists(source_path("src/" + named))) its.insert(pair_of("src/" + named));
    }
    its.erase(pair_of(path));
  }
  return found;
}

void add_reachable(const std::map<std::string, std::set<std::string>>& from, const std::string& pair,
                   std::set<std::string>& reached) {
  for (const auto& next : from.at(pair)) {
    if (reached.insert(next).second) add_reachable(from, next, reached);
  }
}

// docs/design.md lists the folders of the client in this order.
TEST(contributing_test, a_part_of_the_client_includes_nothing_from_a_part_above_it) {
  const std::vector<std::string> parts{"base",   "decision", "core",   "connection",
                                       "keeper", "worker",   "engine", "call"};
  const auto height_of = [&](const std::string& pair) -> std::ptrdiff_t {
    const std::string client = "src/client/";
    if (!pair.starts_with(client)) return -1;
    const auto part = pair.substr(client.size(), pair.find('/', client.size()) - client.size());
    const auto at = std::ranges::find(parts, part);
    EXPECT_NE(at, parts.end()) << pair << " belongs to no part";
    return at - parts.begin();
  };
  int within = 0;
  for (const auto& [pair, its] : includes()) {
    const auto height = height_of(pair);
    if (height < 0) continue;
    for (const auto& other : its) {
      EXPECT_LE(height_of(other), height) << pair << " includes " << other;
      ++within;
    }
  }
  EXPECT_GT(within, 100);
}

// Pairs each of which includes all others, directly or through others, cannot be understood one at a time.
TEST(contributing_test, no_knot_of_includes_has_more_than_two_pairs) {
  const auto all = includes();
  std::map<std::string, std::set<std::string>> reaches;
  for (const auto& [pair, its] : all) add_reachable(all, pair, reaches[pair]);
  for (const auto& [pair, reached] : reaches) {
    if (!reached.contains(pair)) continue;
    std::string knot;
    int size = 0;
    for (const auto& other : reached) {
      if (!reaches.at(other).contains(pair)) continue;
      knot += ' ' + other;
      ++size;
    }
    EXPECT_LE(size, 2) << pair << " is in a knot of" << knot;
  }
}

// A function, or a block in it, begins with the last line before its end that is indented as far.
TEST(contributing_test, no_function_is_longer_than_60_lines) {
  const std::set<std::string> tables{"src/store/mysql/mysql_checks.cpp",
                                     "src/store/postgres/postgres_checks.cpp",
                                     "src/store/sqlite/sqlite_checks.cpp"};
  for (const auto& path : sources_of_src()) {
    if (tables.contains(path)) continue;
    const auto lines = lines_of(path);
    for (const std::string indent : {"", "  "}) {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto& line = lines[i];
        if (line == indent + '}') {
          EXPECT_LE(i - begin - 1, 60U) << path << ':' << begin + 1 << ": " << lines[begin];
        }
        if (line.starts_with(indent) && line.size() > indent.size() && line[indent.size()] != ' ') begin = i;
      }
    }
  }
}

}  // namespace
}  // namespace rowlock::test
