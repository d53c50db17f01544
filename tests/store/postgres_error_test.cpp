#ifdef ROWLOCK_TEST_POSTGRES

// The meaning of an SQLSTATE. Needs no server.
#include "store/postgres/postgres_error.hpp"

#include "store/embedded.hpp"
#include "store/postgres/pqxx_compat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

error refused(const char* state, const std::string& said, std::string_view doing = "acquire") {
  static const store::sql_catalog catalog{embedded::postgres_queries(), "rowlock_"};
  return store::postgres_error(pqxx::sql_error{"ERROR:  " + said + '\n', "SELECT", state}, doing, catalog);
}

TEST(postgres_error, a_missing_migration_is_one_that_rowlocks_own_statements_miss) {
  for (const auto& [state, said] :
       {std::pair{"42P01", "relation \"rowlock_lock\" does not exist\nLINE 1: SELECT"},
        {"42703", "column \"epoch_floor\" does not exist\nLINE 1: SELECT"},
        {"42703", "column \"epoch_floor\" of relation \"rowlock_meta\" does not exist"}}) {
    EXPECT_EQ(refused(state, said).code(), errc::not_migrated) << said;
    EXPECT_THAT(refused(state, said).what(), HasSubstr("rowlock migrate up")) << said;
    EXPECT_EQ(refused(state, said, "migration 2 permits").code(), errc::schema) << said;
    EXPECT_THAT(refused(state, said, "migration 2 permits").what(), Not(HasSubstr("migrate up"))) << said;
  }
}

TEST(postgres_error, what_a_trigger_misses_is_not_a_missing_migration) {
  for (const auto& [state, said] :
       {std::pair{"42P01", "relation \"audit\" does not exist"},
        {"3F000", "schema \"audit\" does not exist"},
        {"42703", "column \"name\" of relation \"audit\" does not exist"},
        {"42703", "record \"new\" has no field \"happening\"\nCONTEXT:  PL/pgSQL function note()"},
        // A function of the user's may misspell rowlock's columns, too.
        {"42703",
         "column \"name\" does not exist\nLINE 1: x\nQUERY:  x\nCONTEXT:  PL/pgSQL function note()"}}) {
    EXPECT_EQ(refused(state, said).code(), errc::database) << said;
    EXPECT_THAT(refused(state, said).what(), AllOf(HasSubstr("triggers"), Not(HasSubstr("migrate")))) << said;
  }
}

TEST(postgres_error, a_migration_without_a_schema_says_where_one_is_missing) {
  const auto none = refused("3F000", "no schema has been selected to create in", "migration 1 locks");
  EXPECT_EQ(none.code(), errc::schema);
  EXPECT_THAT(none.what(), AllOf(HasSubstr("search_path"), Not(HasSubstr("migrate"))));
}

error denied(const std::string& said, const std::string& doing) {
  return refused("42501", said, doing);
}

TEST(postgres_error, says_which_rights_are_missing) {
  const std::string said = "permission denied for table rowlock_lock";
  EXPECT_EQ(denied(said, "list").code(), errc::privilege);
  EXPECT_THAT(denied(said, "list").what(), AllOf(HasSubstr("--as run"), HasSubstr("--as observe")));
  EXPECT_THAT(denied(said, "migration 1 locks").what(), HasSubstr("owns the schema"));
  EXPECT_THAT(denied(said, "create_ledger").what(), HasSubstr("owns the schema"));
}

// Where row-level security hides the rows, no GRANT helps.
TEST(postgres_error, says_that_row_level_security_is_in_the_way) {
  EXPECT_THAT(
      denied("new row violates row-level security policy for table \"rowlock_lease\"", "create_lease").what(),
      AllOf(HasSubstr("DISABLE ROW LEVEL SECURITY"), Not(HasSubstr("--as run"))));
}

}  // namespace
}  // namespace rowlock::test

#endif
