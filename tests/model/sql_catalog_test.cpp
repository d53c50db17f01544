#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

namespace rowlock::store {
namespace {

TEST(prefix_test, is_put_in_where_an_identifier_starts) {
  EXPECT_EQ(
      with_prefix("SELECT * FROM rowlock_lock l JOIN rowlock_lease ON rowlock_lease.id = l.lease_id", "app_"),
      "SELECT * FROM app_lock l JOIN app_lease ON app_lease.id = l.lease_id");
  EXPECT_EQ(with_prefix("rowlock_lock", "x"), "xlock");
  EXPECT_EQ(with_prefix("(rowlock_a,\"rowlock_b\",s.rowlock_c)", "t_"), "(t_a,\"t_b\",s.t_c)");
}

TEST(prefix_test, leaves_what_only_contains_the_word) {
  EXPECT_EQ(with_prefix("my_rowlock_lock 1rowlock_a Xrowlock_b rowlock.epoch rowlock", "app_"),
            "my_rowlock_lock 1rowlock_a Xrowlock_b rowlock.epoch rowlock");
}

TEST(prefix_test, that_is_the_shipped_one_changes_nothing) {
  const std::string sql = "UPDATE rowlock_lock SET token = 1 WHERE name = 'rowlock_'";
  EXPECT_EQ(with_prefix(sql, "rowlock_"), sql);
}

TEST(prefix_test, may_contain_the_shipped_one) {
  EXPECT_EQ(with_prefix("rowlock_lock rowlock_lease", "my_rowlock_"), "my_rowlock_lock my_rowlock_lease");
}

TEST(sql_catalog_test, knows_its_queries_by_name_and_prefix) {
  const embedded::file files[] = {{"one", "-- why\nSELECT 1 FROM rowlock_lock;\n", ""},
                                  {"two", "SELECT 2;\n\n", ""}};
  const sql_catalog catalog{files, "app_"};
  EXPECT_EQ(catalog["one"], "SELECT 1 FROM app_lock");
  EXPECT_EQ(catalog["two"], "SELECT 2");
  EXPECT_THROW(catalog["three"], error);
}

}  // namespace
}  // namespace rowlock::store
