#include "model/text.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using model::nearest;

TEST(text_test, finds_the_nearest_word) {
  const std::vector<std::string> commands{"run", "list", "show", "release", "renew", "migrate"};
  EXPECT_EQ(nearest("lisst", commands), "list");
  EXPECT_EQ(nearest("lsit", commands), "list") << "swapped letters are one mistake";
  EXPECT_EQ(nearest("realese", commands), "release");
  EXPECT_EQ(nearest("rnu", commands), "run");
  EXPECT_EQ(nearest("RE-LEASE", commands), "release") << "capitals, dashes and underscores do not count";
  EXPECT_EQ(nearest("quux", commands), "");
  EXPECT_EQ(nearest("", commands), "");
  EXPECT_EQ(nearest(std::string(100'000, 'r'), commands), "");
  EXPECT_EQ(nearest("list", {}), "");
  EXPECT_EQ(model::did_you_mean("lsit", commands), "; did you mean list?");
  EXPECT_EQ(model::did_you_mean("quux", commands), "");
}

TEST(text_test, reads_a_character) {
  const auto read = [](std::string_view text) {
    const auto [code, length] = model::first_character(text);
    return std::pair{code, length};
  };
  EXPECT_EQ(read("a"), (std::pair{U'a', std::size_t{1}}));
  EXPECT_EQ(read(std::string_view{"\0", 1}), (std::pair{U'\0', std::size_t{1}}));
  EXPECT_EQ(read("\xC3\xA9x"), (std::pair{U'\u00E9', std::size_t{2}}));
  EXPECT_EQ(read("\xE6\x97\xA5"), (std::pair{U'\u65E5', std::size_t{3}}));
  EXPECT_EQ(read("\xF4\x8F\xBF\xBF"), (std::pair{U'\U0010FFFF', std::size_t{4}}));
}

TEST(text_test, finds_no_character_in_what_is_not_utf8) {
  for (const std::string_view text :
       {"\x80", "\xC3", "\xC3(", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE6\x97"}) {
    EXPECT_EQ(model::first_character(text).length, 0U) << testing::PrintToString(text);
  }
}

TEST(text_test, knows_control_characters) {
  for (const char32_t code : {U'\0', U'\n', U'\x1F', U'\x7F', U'\x80', U'\x9F'}) {
    EXPECT_TRUE(model::is_control(code)) << static_cast<unsigned>(code);
  }
  for (const char32_t code : {U' ', U'~', U'\xA0', U'\u65E5'}) {
    EXPECT_FALSE(model::is_control(code)) << static_cast<unsigned>(code);
  }
}

TEST(text_test, reads_and_writes_hex_digits) {
  for (int value = 0; value < 16; ++value) {
    EXPECT_EQ(model::hex_value("0123456789abcdef"[value]), value);
    EXPECT_EQ(model::hex_value("0123456789ABCDEF"[value]), value);
  }
  for (const char other : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\xFF'}) {
    EXPECT_EQ(model::hex_value(other), -1) << other;
  }
  std::string text = "x";
  model::append_hex(text, std::string_view{"\0\x7F\xFFk", 4});
  EXPECT_EQ(text, "x007fff6b");
}

}  // namespace
}  // namespace rowlock::test
