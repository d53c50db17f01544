#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::cli {

using namespace std::chrono_literals;

TEST(parse_duration, takes_a_number_and_a_unit) {
  EXPECT_EQ(parse_duration("--wait", "0"), 0ms);
  EXPECT_EQ(parse_duration("--wait", "500ms"), 500ms);
  EXPECT_EQ(parse_duration("--wait", "30s"), 30s);
  EXPECT_EQ(parse_duration("--wait", "1m"), 1min);
  EXPECT_EQ(parse_duration("--wait", "2h"), 2h);
  EXPECT_EQ(parse_duration("--wait", "1d"), 24h);
  EXPECT_EQ(parse_duration("--wait", "3652d"), 24h * 3652);
}

TEST(parse_duration, refuses_the_rest_with_the_option_and_the_text) {
  for (const std::string text : {"", "s", "30", "-1s", "+1s", "1.5s", " 1s", "1 s", "1s ", "1S", "1w", "0x1s",
                                 "ms", "3653d", "9223372036854775807d", "9223372036854775808s", "1m30s"}) {
    try {
      parse_duration("--wait", text);
      ADD_FAILURE() << text;
    } catch (const error& problem) {
      EXPECT_EQ(problem.code(), errc::invalid_argument);
      EXPECT_THAT(problem.what(), testing::HasSubstr("--wait '" + text + "'"));
      EXPECT_THAT(problem.what(), testing::HasSubstr("500ms, 30s, 1m, 2h or 1d"));
    }
  }
}

TEST(format_duration, uses_the_largest_unit_that_fits) {
  EXPECT_EQ(format_duration(0ms), "0ms");
  EXPECT_EQ(format_duration(999ms), "999ms");
  EXPECT_EQ(format_duration(1s), "1s");
  EXPECT_EQ(format_duration(12345ms), "12.3s");
  EXPECT_EQ(format_duration(90s), "1.5m");
  EXPECT_EQ(format_duration(59min), "59m");
  EXPECT_EQ(format_duration(36h), "1.5d");
  EXPECT_EQ(format_duration(-3s), "-3s");
  EXPECT_EQ(format_duration(-50ms), "-50ms");
}

TEST(printable, leaves_text_alone) {
  for (const std::string text : {"", "a b/c", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x94\x92", "\\x41"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(printable, escapes_what_would_act_or_mislead) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
  EXPECT_EQ(printable(std::string_view{"\0", 1}), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");          // CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u{202e}");  // right-to-left override
  EXPECT_EQ(printable("\xef\xbb\xbf"), "\\u{feff}");
  EXPECT_EQ(printable("\xc2\xad"), "\\u{00ad}");           // soft hyphen
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\u{e0041}");  // an invisible tag
}

TEST(printable, escapes_what_is_no_utf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(without_passwords, hides_them_wherever_they_stand) {
  EXPECT_EQ(without_passwords("at postgresql://u:hush@h:5432/db."), "at postgresql://u:***@h:5432/db.");
  EXPECT_EQ(without_passwords("mysql://u:hu@sh:x@h/db"), "mysql://u:***@h/db");
  EXPECT_EQ(without_passwords("postgresql://u:hu/sh@h/db"), "postgresql://u:***@h/db");
  EXPECT_EQ(without_passwords("mysql://app@corp:hush@db/shop"), "mysql://app@corp:***@db/shop");
  EXPECT_EQ(without_passwords("mysql://app@corp:hu@sh@db:3306/shop"), "mysql://app@corp:***@db:3306/shop");
  EXPECT_EQ(without_passwords("host=h password=hush user=u"), "host=h password=*** user=u");
  EXPECT_EQ(without_passwords("password = 'hu sh' x"), "password = *** x");
  EXPECT_EQ(without_passwords("postgresql:///db?user=u&password=hush&x=1"),
            "postgresql:///db?user=u&password=***&x=1");
}

// std::regex overflows the stack on such words.
TEST(without_passwords, takes_a_text_of_any_length) {
  const std::string word(1'000'000, 'x');
  EXPECT_EQ(without_passwords("postgresql://u:" + word + "@h"), "postgresql://u:***@h");
  EXPECT_EQ(without_passwords("password='" + word + "'"), "password=***");
  EXPECT_EQ(without_passwords("password='" + word), "password=***");
  EXPECT_EQ(without_passwords(word), word);
}

TEST(without_passwords, leaves_the_rest) {
  for (const std::string text :
       {"postgresql://u@h:5432/db", "sqlite:a.db", "a: b@c", "the password is wrong"}) {
    EXPECT_EQ(without_passwords(text), text);
  }
}

TEST(one_line, has_no_line_breaks_and_no_passwords) {
  EXPECT_EQ(one_line("server said:\n\tno\r\n\x1b[2J"), "server said:  no  \\x1b[2J");
  EXPECT_EQ(one_line("at postgresql://u:hush/hush@h/d\nno"), "at postgresql://u:***@h/d no");
}

TEST(table, aligns_by_characters) {
  EXPECT_EQ(table({{"NAME", "N"}, {"\xc3\xbc", "1"}, {"longer", "22"}}),
            "NAME    N\n\xc3\xbc       1\nlonger  22\n");
  EXPECT_EQ(table({{"A", "B"}, {"only"}}), "A     B\nonly\n");
  EXPECT_EQ(table({}), "");
}

TEST(table, lets_a_long_name_widen_its_own_row_only) {
  const std::string name(512, 'n');
  EXPECT_EQ(table({{"a", "mutex"}, {name, "mutex"}}),
            "a" + std::string(65, ' ') + "mutex\n" + name + "  mutex\n");
}

TEST(table, cuts_the_first_cell_to_the_length_of_a_line) {
  const std::string name =
      "billing/n\xc3\xa4"
      "chtlich";
  std::vector<std::size_t> widths;
  EXPECT_EQ(table({{"NAME", "KIND"}, {name, "mutex"}}, widths, 21),
            "NAME            KIND\nbilling/n\xc3\xa4"
            "c...  mutex\n");
  EXPECT_EQ(table({{"a", "mutex"}}, widths, 21), "a               mutex\n")
      << "the next part is aligned with it";
  widths.clear();
  EXPECT_EQ(table({{name, "mutex"}}, widths, 5), "billing/n...  mutex\n") << "no shorter than 12";
  widths.clear();
  EXPECT_EQ(table({{name, "mutex"}}, widths, 80), name + "  mutex\n");
}

TEST(count_of, knows_the_plural) {
  EXPECT_EQ(count_of(0, "lock"), "0 locks");
  EXPECT_EQ(count_of(1, "lock"), "1 lock");
  EXPECT_EQ(count_of(2, "lock"), "2 locks");
}

}  // namespace rowlock::cli
