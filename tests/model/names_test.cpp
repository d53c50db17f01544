#include "model/names.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::model {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The message of the refusal; empty if the check accepts.
template <class Check>
std::string refusal(Check check) {
  try {
    check();
    return {};
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::invalid_argument);
    EXPECT_FALSE(thrown.transient());
    return thrown.what();
  }
}

std::string refusal_of_name(std::string_view name) {
  return refusal([&] { check_name(name); });
}

TEST(names_test, may_be_any_printable_text) {
  for (const std::string_view name :
       {"a", "billing/nightly", " ", "a b", "\"';--", "%_\\", "\xC2\xA0", "\xC3\xA4", "\xE2\x82\xAC",
        "\xEF\xBF\xBD", "\xED\x9F\xBF" /* U+D7FF */, "\xEE\x80\x80" /* U+E000 */,
        "\xF0\x90\x80\x80" /* U+10000 */, "\xF4\x8F\xBF\xBF" /* U+10FFFF */, "\xDF\xBF", "\xE0\xA0\x80"}) {
    EXPECT_EQ(refusal_of_name(name), "") << name;
  }
}

TEST(names_test, have_1_to_512_bytes) {
  EXPECT_THAT(refusal_of_name(""), HasSubstr("empty"));
  EXPECT_EQ(refusal_of_name(std::string(512, 'x')), "");
  EXPECT_THAT(refusal_of_name(std::string(513, 'x')), HasSubstr("513 bytes; at most 512"));
  std::string umlauts;
  for (int i = 0; i < 257; ++i) umlauts += "\xC3\xA4";
  EXPECT_THAT(refusal_of_name(umlauts), HasSubstr("514 bytes")) << "bytes count, not characters";
}

TEST(names_test, have_no_control_characters) {
  using namespace std::string_view_literals;
  for (const auto name :
       {"\0"sv, "a\0b"sv, "\x01"sv, "\t"sv, "a\n"sv, "\x1F"sv, "\x7F"sv, "\xC2\x80"sv, "\xC2\x9F"sv}) {
    EXPECT_THAT(refusal_of_name(name), HasSubstr("control character"));
  }
  EXPECT_THAT(refusal_of_name("ab\ncd"), HasSubstr("byte 2"));
}

TEST(names_test, are_utf8) {
  for (const std::string_view name :
       {"\x80", "\xBF", "\xC3", "\xC3(", "\xC0\xAF" /* overlong */, "\xC1\xBF", "\xE0\x80\xAF",
        "\xE0\x9F\xBF", "\xED\xA0\x80" /* a surrogate */, "\xED\xBF\xBF", "\xE2\x82", "\xE2(\xAC",
        "\xF0\x8F\xBF\xBF", "\xF0\x90\x80", "\xF4\x90\x80\x80" /* above U+10FFFF */, "\xF5\x80\x80\x80",
        "\xFE", "\xFF", "caf\xE9" /* Latin-1 */}) {
    EXPECT_THAT(refusal_of_name(name), HasSubstr("not UTF-8"));
  }
  EXPECT_THAT(refusal_of_name("abc\xFF"), HasSubstr("byte 3"));
}

std::string refusal_of_prefix(std::string_view value) {
  return refusal([&] { check_identifier("prefix", value); });
}

TEST(identifiers_test, are_plain_and_short) {
  for (const auto* value : {"a", "_", "rowlock_", "a1", "_1", "abcdefghijklmnopqrstuvwxyz01234"}) {
    EXPECT_EQ(refusal_of_prefix(value), "") << value;
  }
}

TEST(identifiers_test, that_could_be_anything_else_are_refused) {
  for (const auto* value :
       {"", "1a", "A", "a-b", "a b", "a\"", "a;", "a.b", "\xC3\xA4", "abcdefghijklmnopqrstuvwxyz012345"}) {
    EXPECT_THAT(refusal_of_prefix(value), HasSubstr("[a-z_][a-z0-9_]{0,30}")) << value;
  }
}

TEST(identifiers_test, that_would_make_reserved_words_of_tables_are_refused) {
  EXPECT_THAT(refusal_of_prefix("re"), HasSubstr("use re_"));
  EXPECT_THAT(refusal_of_prefix("un"), HasSubstr("use un_"));
  EXPECT_EQ(refusal_of_prefix("re_"), "");
  EXPECT_EQ(refusal([] { check_identifier("schema", "re"); }), "");
}

TEST(identifiers_test, are_not_repeated_when_refused) {
  EXPECT_THAT(refusal_of_prefix("s3cret!"), testing::Not(HasSubstr("s3cret")));
  EXPECT_THAT(refusal_of_prefix("s3cret!"), HasSubstr("prefix"));
}

std::string refusal_of_ttl(std::chrono::milliseconds ttl, std::chrono::milliseconds interval) {
  return refusal([&] { check_ttl(ttl, interval); });
}

TEST(ttl_test, lasts_from_a_second_to_a_day) {
  EXPECT_EQ(refusal_of_ttl(1s, 500ms), "");
  EXPECT_EQ(refusal_of_ttl(24h, 12h), "");
  EXPECT_THAT(refusal_of_ttl(999ms, 1ms), HasSubstr("999 ms"));
  EXPECT_THAT(refusal_of_ttl(24h + 1ms, 1s), HasSubstr("86400001 ms"));
  EXPECT_NE(refusal_of_ttl(-30s, 1s), "");
}

TEST(ttl_test, survives_one_failed_renewal) {
  EXPECT_EQ(refusal_of_ttl(30s, 15s), "");
  const auto said = refusal_of_ttl(30s, 15'001ms);
  EXPECT_THAT(said, HasSubstr("15001 ms"));
  EXPECT_THAT(said, HasSubstr("30000 ms"));
  EXPECT_NE(refusal_of_ttl(30s, 0ms), "");
  EXPECT_NE(refusal_of_ttl(30s, -1ms), "");
}

TEST(ttl_test, given_explicitly_may_be_shorter) {
  EXPECT_EQ(refusal([] { check_explicit_ttl(100ms); }), "");
  EXPECT_EQ(refusal([] { check_explicit_ttl(24h); }), "");
  EXPECT_THAT(refusal([] { check_explicit_ttl(99ms); }), HasSubstr("99 ms"));
  EXPECT_NE(refusal([] { check_explicit_ttl(24h + 1ms); }), "");
  EXPECT_NE(refusal([] { check_explicit_ttl(0ms); }), "");
}

TEST(printable_test, keeps_what_is_utf8_and_no_control_character) {
  EXPECT_EQ(model::printable("batch-caf\xC3"), "batch-caf") << "a program's name that was cut";
  EXPECT_EQ(model::printable("caf\xC3\xA9\n!"), "caf\xC3\xA9!");
  EXPECT_EQ(model::printable("\xFF"), "");
}

}  // namespace
}  // namespace rowlock::model
