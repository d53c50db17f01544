#include "cli/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rowlock::cli {

TEST(glob, matches_the_whole_name) {
  for (const auto& [name, pattern] : {std::pair{"billing/nightly", "billing/*"},
                                      {"billing/", "billing/*"},
                                      {"a/b/c", "a/*"},
                                      {"a/b/c", "*c"},
                                      {"abcabd", "*ab?"},
                                      {"a", "*****"},
                                      {"", ""},
                                      {"", "*"},
                                      {"\xc3\xbc", "?"},
                                      {"a*c", "a\\*c"},
                                      {"a\\", "a\\"},
                                      {"100%_", "100%_"}}) {
    EXPECT_TRUE(matches(name, pattern)) << name << " " << pattern;
  }
  for (const auto& [name, pattern] : {std::pair{"billing", "billing/*"},
                                      {"xbilling/a", "billing/*"},
                                      {"abc", "a\\*c"},
                                      {"abc", "ab"},
                                      {"ab", "abc"},
                                      {"a", "??"},
                                      {"a", ""},
                                      {"axb", "a%b"},
                                      {"axb", "a_b"}}) {
    EXPECT_FALSE(matches(name, pattern)) << name << " " << pattern;
  }
}

TEST(glob, many_stars_take_no_long_time) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(matches(std::string(512, 'a'), pattern + "b"));
  EXPECT_TRUE(matches(std::string(512, 'a'), pattern));
}

}  // namespace rowlock::cli
