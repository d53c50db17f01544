// What CONTRIBUTING.md asks of a change and a file's name can tell.
#include "docs/document.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

// The names of the sources in a folder, without their ends.
std::set<std::string> sources_in(const std::string& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator{source_path(folder)}) {
    if (entry.path().extension() == ".cpp") found.insert(entry.path().stem().string());
  }
  return found;
}

// The tests of the folders below.
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

TEST(contributing_test, no_file_of_the_library_or_the_command_is_longer_than_350_lines) {
  std::size_t files = 0;
  for (const auto* folder : {"src", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator{source_path(folder)}) {
      if (!entry.is_regular_file()) continue;
      const auto path = fs::relative(entry.path(), source_path("")).string();
      EXPECT_LE(lines_of(path).size(), 350U) << path << ": split it by the reasons that it has to exist";
      ++files;
    }
  }
  EXPECT_GT(files, 300U);
}

}  // namespace
}  // namespace rowlock::test
