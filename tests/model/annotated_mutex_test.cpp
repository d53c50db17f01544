// Clang's thread-safety analysis sees every mutex of the library, and each mutex guards something.
#include "docs/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

// Files that may have a mutex of the standard library.
const std::set<std::string> with_plain_mutexes{
    "src/model/annotated_mutex.hpp",  // the annotated mutex contains one
};

// The line without comments and strings, in which the word is no use of a mutex.
std::string code_of(const std::string& line) {
  static const std::regex others{R"("(?:[^"\\]|\\.)*"|//.*)"};
  return std::regex_replace(line, others, "");
}

// Whether the line may make a mutex that the analysis does not see. A reference to the standard's lock does not count:
// through it a condition variable gets an annotated_lock.
bool has_plain_mutex(const std::string& line) {
  static const std::regex lock{R"(std::unique_lock<std::mutex>\s*&)"};
  static const std::regex mutex{R"(\bstd::\w*mutex\b|\bpthread_(?:mutex|rwlock|spinlock)_t\b)"};
  return std::regex_search(std::regex_replace(code_of(line), lock, ""), mutex);
}

std::vector<std::string> library_files() {
  std::vector<std::string> files;
  for (const auto* folder : {"include", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator{source_path(folder)}) {
      const auto extension = entry.path().extension();
      if (extension == ".hpp" || extension == ".cpp") {
        files.push_back(fs::relative(entry.path(), source_path("")).string());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The annotated mutexes that a file declares.
std::vector<std::string> annotated_mutexes(const std::string& path) {
  static const std::regex declaration{R"(\bannotated_mutex (\w+);)"};
  std::vector<std::string> names;
  std::smatch name;
  for (const auto& line : lines_of(path)) {
    const auto code = code_of(line);
    if (std::regex_search(code, name, declaration)) names.push_back(name[1]);
  }
  return names;
}

TEST(annotated_mutex, is_every_mutex_of_the_library) {
  std::vector<std::string> plain;
  for (const auto& path : library_files()) {
    if (with_plain_mutexes.contains(path)) continue;
    int number = 0;
    for (const auto& line : lines_of(path)) {
      ++number;
      if (has_plain_mutex(line)) plain.push_back(path + ":" + std::to_string(number) + ": " + line);
    }
  }
  EXPECT_THAT(plain, IsEmpty()) << "make it a model::annotated_mutex, and mark what it guards";
}

TEST(annotated_mutex, guards_something) {
  std::size_t found = 0;
  for (const auto& path : library_files()) {
    for (const auto& mutex : annotated_mutexes(path)) {
      ++found;
      EXPECT_THAT(text_of(path), testing::HasSubstr("GUARDED_BY(" + mutex + ")"))
          << path << ": nothing is marked as guarded by " << mutex;
    }
  }
  EXPECT_GT(found, std::size_t{0});
}

TEST(annotated_mutex, is_told_from_a_plain_one) {
  for (const auto* line :
       {"  mutable std::mutex mutex_;", "std::recursive_mutex mutex;", "std::shared_mutex of_all{};",
        "std::timed_mutex a, b;", "std::vector<std::mutex> mutexes_;", "using std::mutex;",
        "std::unique_ptr<std::mutex> mutex_;", "pthread_mutex_t mutex_;"}) {
    EXPECT_TRUE(has_plain_mutex(line)) << line;
  }
  for (const auto* line : {"  mutable model::annotated_mutex mutex_;", "rowlock::mutex lock;",
                           "#include <mutex>", "// as std::mutex does", "log(\"std::mutex\");",
                           "void wait_until(std::unique_lock<std::mutex>& lock, instant then);"}) {
    EXPECT_FALSE(has_plain_mutex(line)) << line;
  }
}

// A file that no longer needs its exception must leave the list.
TEST(annotated_mutex, has_exceptions_that_exist) {
  for (const auto& path : with_plain_mutexes) {
    const auto lines = lines_of(path);
    EXPECT_TRUE(std::ranges::any_of(lines, has_plain_mutex)) << path;
  }
}

}  // namespace
}  // namespace rowlock::test
