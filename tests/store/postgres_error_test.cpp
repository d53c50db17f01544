#ifdef ROWLOCK_TEST_POSTGRES

// What an SQLSTATE means; no server.
#include "store/postgres/postgres_error.hpp"

#include "store/postgres/pqxx_compat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

error denied(const std::string& said, const std::string& doing) {
  return store::postgres_error(pqxx::insufficient_privilege{"ERROR:  " + said + "\n", "", "42501"}, doing);
}

TEST(postgres_error_test, says_which_rights_are_missing) {
  const std::string said = "permission denied for table rowlock_lock";
  EXPECT_EQ(denied(said, "list").code(), errc::privilege);
  EXPECT_THAT(denied(said, "list").what(), AllOf(HasSubstr("--as run"), HasSubstr("--as observe")));
  EXPECT_THAT(denied(said, "migration 1 locks").what(), HasSubstr("owns the schema"));
}

// No GRANT helps then.
TEST(postgres_error_test, says_that_row_level_security_is_in_the_way) {
  EXPECT_THAT(
      denied("new row violates row-level security policy for table \"rowlock_lease\"", "create_lease").what(),
      AllOf(HasSubstr("DISABLE ROW LEVEL SECURITY"), Not(HasSubstr("--as run"))));
}

}  // namespace
}  // namespace rowlock::test

#endif
