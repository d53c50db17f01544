#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

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

TEST(error_test, each_code_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(errc::internal); ++code)
    EXPECT_TRUE(names.insert(to_string(static_cast<errc>(code))).second) << code;
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace rowlock::test
