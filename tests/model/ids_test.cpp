#include "model/ids.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <set>
#include <type_traits>
#include <unordered_set>

namespace rowlock::model {
namespace {

TEST(ids_test, nil_names_nothing) {
  EXPECT_TRUE(lease_id{}.is_nil());
  EXPECT_EQ(lease_id{}.to_string(), std::string(32, '0'));
  EXPECT_FALSE(lease_id::random().is_nil());
}

TEST(ids_test, come_back_from_their_text) {
  for (int i = 0; i < 100; ++i) {
    const auto id = hold_id::random();
    EXPECT_EQ(hold_id::parse(id.to_string()), id);
  }
}

TEST(ids_test, are_read_as_uuid_columns_print_them) {
  EXPECT_EQ(lease_id::parse("0123abcd-4567-89EF-0011-223344556677").to_string(),
            "0123abcd456789ef0011223344556677");
}

TEST(ids_test, that_are_none_are_refused) {
  for (const auto* text :
       {"", "0123", "0123abcd456789ef00112233445566770", "0123abcd456789ef001122334455667g",
        "{123abcd456789ef0011223344556677}", " 0123abcd456789ef001122334455667"}) {
    try {
      lease_id::parse(text);
      ADD_FAILURE() << text;
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::invalid_argument);
      EXPECT_NE(std::string{thrown.what()}.find("32 hex digits"), std::string::npos) << thrown.what();
    }
  }
}

TEST(ids_test, never_come_twice) {
  std::set<lease_id> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(lease_id::random()).second);
}

TEST(ids_test, of_a_forked_child_are_not_its_parents) {
  lease_id::random();  // fills the parent's block of entropy
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = lease_id::random().to_string();
    ::_exit(::write(ends[1], text.data(), text.size()) == 32 ? 0 : 1);
  }
  std::string childs(32, ' ');
  EXPECT_EQ(::read(ends[0], childs.data(), childs.size()), 32);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_NE(lease_id::random().to_string(), childs);
}

TEST(ids_test, of_a_lease_are_not_those_of_a_hold) {
  EXPECT_FALSE((std::is_convertible_v<lease_id, hold_id>));
  EXPECT_FALSE((std::is_convertible_v<hold_id, lease_id>));
}

TEST(ids_test, of_what_belongs_to_another_id_differ_by_number) {
  const auto hold = hold_id::random();
  EXPECT_EQ(lease_id::belonging_to(hold).to_string(), hold.to_string());
  EXPECT_EQ(lease_id::belonging_to(hold, 7), lease_id::belonging_to(hold, 7));
  EXPECT_NE(lease_id::belonging_to(hold, 7), lease_id::belonging_to(hold, 8));
  EXPECT_NE(lease_id::belonging_to(hold, 7), lease_id::belonging_to(hold));
  EXPECT_NE(lease_id::belonging_to(hold, 7), lease_id::belonging_to(hold_id::random(), 7));
}

TEST(ids_test, sort_as_their_text_does) {
  std::vector<lease_id> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(lease_id::random());
  std::ranges::sort(ids);
  EXPECT_TRUE(std::ranges::is_sorted(ids, {}, &lease_id::to_string));
}

// The public ids, and a token.

static_assert(std::is_convertible_v<hold_id, rowlock::hold_id> &&
              std::is_convertible_v<lease_id, rowlock::lease_id>);
static_assert(!std::is_convertible_v<hold_id, rowlock::lease_id> &&
              !std::is_constructible_v<rowlock::hold_id, rowlock::lease_id> &&
              !std::is_constructible_v<rowlock::lease_id, hold_id>);
static_assert(!std::equality_comparable_with<rowlock::hold_id, rowlock::lease_id>);
static_assert(!std::is_convertible_v<std::int64_t, fencing_token> &&
              !std::is_convertible_v<fencing_token, std::int64_t>);
static_assert(std::is_trivially_copyable_v<rowlock::hold_id> && std::is_trivially_copyable_v<fencing_token>);

TEST(ids_test, the_public_ones_are_the_same_ids) {
  const auto id = hold_id::random();
  const rowlock::hold_id shown = id;
  EXPECT_EQ(hold_id{shown}, id);
  EXPECT_EQ(shown, id);
  EXPECT_EQ(shown.to_string(), id.to_string());
  EXPECT_EQ(to_string(shown), id.to_string());
  EXPECT_EQ(rowlock::hold_id::parse(id.to_string()), shown);
  EXPECT_EQ(rowlock::hold_id{shown.words()}, shown);
  EXPECT_EQ(testing::PrintToString(shown), id.to_string());
  EXPECT_TRUE(rowlock::lease_id{}.is_nil());
  EXPECT_FALSE(shown.is_nil());
  EXPECT_EQ(std::unordered_set<rowlock::hold_id>({shown, id}).size(), 1U);
  EXPECT_THROW(rowlock::lease_id::parse("a lease"), error);
  EXPECT_LT(rowlock::lease_id::parse("00000000000000000000000000000001"),
            rowlock::lease_id::parse("00000000000000010000000000000000"));
}

TEST(ids_test, a_token_is_an_ordered_number) {
  const fencing_token first{7};
  const fencing_token second{1'000};
  EXPECT_LT(first, second);
  EXPECT_GT(first, fencing_token{});
  EXPECT_EQ(second.value(), 1'000);
  EXPECT_EQ(to_string(second), "1000");
  EXPECT_EQ(testing::PrintToString(second), "1000");
  EXPECT_EQ(format_as(second), 1'000);
  EXPECT_EQ(fencing_token::parse("1000"), second);
  EXPECT_EQ(std::unordered_set<fencing_token>({first, second, first}).size(), 2U);
  for (const auto* text : {"", "-1", "-0", "+1", "1x", " 1", "9223372036854775808"})
    EXPECT_THROW(fencing_token::parse(text), error) << text;
}

}  // namespace
}  // namespace rowlock::model
