#ifdef ROWLOCK_TEST_MYSQL

#include "store/mysql/mysql_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using store::split_statements;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(mysql_script_test, cuts_at_semicolons) {
  EXPECT_THAT(split_statements("SELECT 1; SELECT 2;\n\nSELECT 3"),
              ElementsAre("SELECT 1", "SELECT 2", "SELECT 3"));
}

TEST(mysql_script_test, knows_nothing_where_nothing_is) {
  EXPECT_THAT(split_statements(""), IsEmpty());
  EXPECT_THAT(split_statements(" ;\n; -- a comment; of its own\n"), IsEmpty());
  EXPECT_THAT(split_statements("SELECT 1;\n#"), ElementsAre("SELECT 1"));
}

TEST(mysql_script_test, leaves_quoted_text_alone) {
  EXPECT_THAT(split_statements("SELECT ';', \"a;\", `b;`; SELECT 'it''s; \\'; x'"),
              ElementsAre("SELECT ';', \"a;\", `b;`", "SELECT 'it''s; \\'; x'"));
}

TEST(mysql_script_test, leaves_comments_out_or_alone) {
  EXPECT_THAT(split_statements("-- it's one; comment\nSELECT 1 # and; another\n, 2 /* a; third */ + 1;"),
              ElementsAre("SELECT 1 \n, 2 /* a; third */ + 1"));
  EXPECT_THAT(split_statements("SELECT 1;\n--\ta; comment\n--"), ElementsAre("SELECT 1"));
  EXPECT_THAT(split_statements("SELECT 1--2, 5----\n3"), ElementsAre("SELECT 1--2, 5--/**/\n3"));
}

}  // namespace
}  // namespace rowlock::test

#endif
