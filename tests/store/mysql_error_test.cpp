#ifdef ROWLOCK_TEST_MYSQL

// The meaning of an error number of the server or of the client library. Needs no server.
#include "store/mysql/mysql_error.hpp"

#include "store/embedded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <soci/mysql/soci-mysql.h>

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

soci::mysql_soci_error failure(int number, const std::string& said = "it said") {
  return {said, number};
}

error of_statement(int number, const std::string& said = "it said", std::string_view doing = "release") {
  static const store::sql_catalog catalog{embedded::mysql_queries(), "rowlock_"};
  return store::mysql_error(failure(number, said), doing, catalog);
}

error of_connect(int number, const std::string& url = "mysql://app:secret@db/shop") {
  return store::mysql_connect_error(failure(number), store::mysql_endpoint{url});
}

TEST(mysql_error_test, a_member_that_has_left_its_group_cannot_be_reached) {
  for (const int number : {3032, 3100, 3781, 3782, 3796, 3797, 3798, 3799, 1041, 1135, 4081, 4082}) {
    EXPECT_EQ(of_statement(number).code(), errc::unreachable) << number;
    EXPECT_TRUE(of_statement(number).outcome_unknown()) << number;
    EXPECT_EQ(of_connect(number).code(), errc::unreachable) << number;
  }
}

// The group may have taken the transaction before the member left.
TEST(mysql_error_test, a_commit_that_the_group_refused_is_contention_and_may_have_happened) {
  EXPECT_EQ(of_statement(3101).code(), errc::contention);
  EXPECT_TRUE(of_statement(3101).outcome_unknown());
}

TEST(mysql_error_test, what_was_refused_at_its_beginning_has_not_happened) {
  EXPECT_EQ(of_statement(4094).code(), errc::contention);
  EXPECT_FALSE(of_statement(4094).outcome_unknown());
  EXPECT_EQ(of_statement(3989).code(), errc::read_only);
  EXPECT_THAT(of_statement(3989).what(), HasSubstr("ALTER DATABASE"));
}

TEST(mysql_error_test, says_what_to_do_about_a_marker_that_is_a_memory_table) {
  for (const int number : {1785, 3098}) {
    EXPECT_EQ(of_statement(number).code(), errc::database) << number;
    EXPECT_THAT(of_statement(number).what(), HasSubstr("ALTER TABLE rowlock_marker ENGINE = InnoDB"))
        << number;
  }
}

TEST(mysql_error_test, says_where_it_cannot_connect) {
  EXPECT_THAT(of_connect(2002, "mysql://app@db/shop").what(),
              HasSubstr("cannot connect to MySQL at db:3306: "));
  EXPECT_THAT(of_connect(2002, "mysql://app@[::1]:3307/shop").what(), HasSubstr(" at [::1]:3307: "));
  EXPECT_THAT(of_connect(2002, "mysql://app@/shop?socket=/run/x").what(),
              HasSubstr("cannot connect to MySQL: "));
  const store::mysql_endpoint two{"mysql://app@a,b:3307/shop"};
  EXPECT_THAT(store::mysql_connect_error(failure(2002), two, 1).what(), HasSubstr(" at b:3307: "));
}

TEST(mysql_error_test, says_which_rights_are_missing) {
  EXPECT_THAT(of_statement(1142).what(), AllOf(HasSubstr("--as run"), HasSubstr("--as observe")));
  EXPECT_THAT(of_statement(1227).what(), HasSubstr("--as operate"));  // such as PROCESS
  EXPECT_THAT(of_statement(1142, "it said", "migration 0001_locks").what(), HasSubstr("--as migrate"));
  EXPECT_THAT(of_statement(1142, "it said", "create_ledger").what(), HasSubstr("--as migrate"));
}

TEST(mysql_error_test, names_the_setting_of_a_router_that_shares_connections) {
  for (const int number : {3566, 4501}) {
    EXPECT_EQ(of_statement(number).code(), errc::database) << number;
    EXPECT_THAT(of_statement(number).what(), HasSubstr("connection_sharing=1")) << number;
  }
}

TEST(mysql_error_test, only_what_rowlock_uses_itself_can_be_missing_for_want_of_a_migration) {
  for (const auto& [number, said] : {std::pair{1146, "Table 'shop.rowlock_lock' doesn't exist"},
                                     {1054, "Unknown column 'm.epoch_floor' in 'field list'"}}) {
    EXPECT_EQ(of_statement(number, said).code(), errc::not_migrated) << said;
    EXPECT_THAT(of_statement(number, said).what(), HasSubstr("rowlock migrate up")) << said;
    EXPECT_EQ(of_statement(number, said, "migration 2 permits").code(), errc::schema) << said;
    EXPECT_THAT(of_statement(number, said, "migration 2 permits").what(), Not(HasSubstr("migrate up")))
        << said;
  }
  for (const auto& [number, said] : {std::pair{1146, "Table 'shop.audit' doesn't exist"},
                                     {1054, "Unknown column 'happening' in 'INSERT INTO'"},
                                     {1109, "Unknown table 'audit' in field list"}}) {
    EXPECT_EQ(of_statement(number, said).code(), errc::database) << said;
    EXPECT_THAT(of_statement(number, said).what(), AllOf(HasSubstr("triggers"), Not(HasSubstr("migrate"))))
        << said;
  }
}

TEST(mysql_error_test, a_login_that_is_refused_says_what_the_url_may_lack) {
  const std::string bare = "mysql://app:secret@db/shop";
  const auto encrypted = bare + "?ssl_ca=/ca.pem";
  const auto certified = encrypted + "&ssl_cert=/c.pem&ssl_key=/k.pem";
  for (const int number : {1045, 2061, 3159}) {
    EXPECT_EQ(of_connect(number).code(), errc::authentication) << number;
    EXPECT_THAT(of_connect(number, bare).what(), HasSubstr("add ssl_ca=FILE to the URL")) << number;
    EXPECT_THAT(of_connect(number, encrypted).what(), Not(HasSubstr("ssl_ca"))) << number;
  }
  EXPECT_THAT(of_connect(1045, encrypted).what(), HasSubstr("ssl_cert=FILE and ssl_key=FILE"));
  EXPECT_THAT(of_connect(1045, certified).what(), Not(HasSubstr("ssl_")));
  EXPECT_THAT(of_connect(3118, bare).what(), AllOf(HasSubstr("it said (3118)"), Not(HasSubstr("ssl_"))));
}

}  // namespace
}  // namespace rowlock::test

#endif
