// Every fuzz target, with the bytes that are kept in tests/fuzz/corpus.
#include "fuzz.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace rowlock::fuzz {

namespace {

const std::filesystem::path corpus{ROWLOCK_SOURCE_DIR "/tests/fuzz/corpus"};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Inputs that a size limit keeps out of the corpus.
std::vector<std::string> long_inputs() {
  return {std::string(300'000, 'a'), std::string(300'000, '\''),
          "postgresql://a:" + std::string(300'000, 'b'), "password='" + std::string(300'000, 'c'),
          std::string(100'000, '\xe2')};
}

TEST(replay_test, every_target_accepts_its_corpus) {
  for (const auto& [name, run] : targets()) {
    SCOPED_TRACE(name);
    std::size_t inputs = 0;
    EXPECT_NO_THROW(run(""));
    for (const auto& entry : std::filesystem::directory_iterator{corpus / name}) {
      SCOPED_TRACE(entry.path().filename().string());
      EXPECT_NO_THROW(run(bytes_of(entry.path())));
      ++inputs;
    }
    EXPECT_GE(inputs, 3U);
  }
}

TEST(replay_test, every_target_survives_long_inputs) {
  for (const auto& [name, run] : targets()) {
    SCOPED_TRACE(name);
    for (const auto& input : long_inputs()) EXPECT_NO_THROW(run(input));
  }
}

TEST(replay_test, every_folder_of_the_corpus_has_a_target) {
  std::set<std::string> built;
  for (const auto& [name, run] : targets()) built.insert(name);
#if defined(ROWLOCK_TEST_POSTGRES) && defined(ROWLOCK_TEST_MYSQL) && defined(ROWLOCK_TEST_SERVE)
  for (const auto& entry : std::filesystem::directory_iterator{corpus}) {
    EXPECT_TRUE(built.contains(entry.path().filename().string())) << entry.path();
  }
#endif
  EXPECT_GE(built.size(), 8U);
}

}  // namespace

}  // namespace rowlock::fuzz
