#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace rowlock::test {
namespace {

TEST(error_test, answers_what_it_was_made_with) {
  const error plain{errc::closed, "the client is closed"};
  EXPECT_EQ(plain.code(), errc::closed);
  EXPECT_STREQ(plain.what(), "the client is closed");
  EXPECT_EQ(plain.database_code(), "");
  EXPECT_FALSE(plain.outcome_unknown());
  const error of_a_database{errc::database, "a conflict", "40001", true};
  EXPECT_EQ(of_a_database.database_code(), "40001");
  EXPECT_TRUE(of_a_database.outcome_unknown());
}

TEST(error_test, is_transient_where_the_same_call_may_succeed_without_intervention) {
  for (const auto code : {errc::unreachable, errc::read_only, errc::broken_barrier, errc::contention})
    EXPECT_TRUE(error(code, "").transient()) << to_string(code);
  for (const auto code : {errc::invalid_argument, errc::mismatch, errc::authentication, errc::privilege,
                          errc::not_migrated, errc::too_new, errc::cancelled, errc::hold_lost, errc::deadlock,
                          errc::closed, errc::forked, errc::schema, errc::database, errc::internal}) {
    EXPECT_FALSE(error(code, "").transient()) << to_string(code);
    EXPECT_TRUE(error(code, "", {}, true).transient()) << "its outcome is unknown";
  }
}

// The numbers are part of the interface: programs may store them.
static_assert(static_cast<int>(errc::invalid_argument) == 1 && static_cast<int>(errc::mismatch) == 2 &&
              static_cast<int>(errc::unreachable) == 3 && static_cast<int>(errc::authentication) == 4 &&
              static_cast<int>(errc::privilege) == 5 && static_cast<int>(errc::read_only) == 6 &&
              static_cast<int>(errc::not_migrated) == 7 && static_cast<int>(errc::too_new) == 8 &&
              static_cast<int>(errc::cancelled) == 9 && static_cast<int>(errc::broken_barrier) == 10 &&
              static_cast<int>(errc::hold_lost) == 11 && static_cast<int>(errc::deadlock) == 12 &&
              static_cast<int>(errc::closed) == 13 && static_cast<int>(errc::forked) == 14 &&
              static_cast<int>(errc::contention) == 15 && static_cast<int>(errc::schema) == 16 &&
              static_cast<int>(errc::database) == 17 && static_cast<int>(errc::internal) == 18);
static_assert(std::is_nothrow_copy_constructible_v<error> && std::is_nothrow_copy_assignable_v<error> &&
              std::is_nothrow_move_constructible_v<error> && std::is_nothrow_move_assignable_v<error>);

TEST(error_test, is_a_system_error_with_a_category_of_its_own) {
  const auto code = [] {
    try {
      throw error{errc::deadlock, "a circle"};
    } catch (const std::system_error& failure) {
      EXPECT_STREQ(failure.what(), "a circle") << "without the category's message";
      return failure.code();
    }
  }();
  EXPECT_EQ(code, errc::deadlock);
  EXPECT_NE(code, errc::closed);
  EXPECT_EQ(&code.category(), &error_category());
  EXPECT_STREQ(code.category().name(), "rowlock");
  EXPECT_EQ(code, make_error_code(errc::deadlock));
  EXPECT_EQ(code, std::errc::resource_deadlock_would_occur) << "as std::mutex says it";
  EXPECT_EQ(std::error_code{errc::cancelled}, std::errc::operation_canceled);
  EXPECT_EQ(std::error_code{errc::invalid_argument}, std::errc::invalid_argument);
  EXPECT_EQ(std::error_code{errc::privilege}, std::errc::permission_denied);
  EXPECT_NE(std::error_code{errc::closed}, std::errc::operation_canceled);
  EXPECT_EQ((error{errc::schema, ""}.kind()), errc::schema);
}

TEST(error_test, a_copy_shares_its_texts_and_a_moved_from_one_keeps_them) {
  error first{errc::database, "a conflict", "40001"};
  error moved = std::move(first);
  const error copy = moved;
  for (const error* each : std::initializer_list<const error*>{&first, &moved, &copy}) {
    EXPECT_STREQ(each->what(), "a conflict");
    EXPECT_EQ(each->database_code(), "40001");
  }
  EXPECT_EQ(copy.what(), moved.what()) << "the same characters";
}

TEST(error_test, each_code_has_a_name_and_a_meaning_of_its_own) {
  std::set<std::string> names;
  EXPECT_STREQ(to_string(errc{}), "unknown");
  for (int code = 1; code <= static_cast<int>(errc::internal); ++code)
    EXPECT_TRUE(names.insert(error_category().message(code)).second) << code;
  for (int code = 1; code <= static_cast<int>(errc::internal); ++code)
    EXPECT_TRUE(names.insert(to_string(static_cast<errc>(code))).second) << code;
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace rowlock::test
