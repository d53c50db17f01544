#include "store/sql_catalog.hpp"

#include "store/store.hpp"

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

sql_catalog catalog_of(std::string_view text) {
  const embedded::file files[] = {{"file", text, ""}};
  return {files, "app_"};
}

TEST(sql_catalog_test, knows_its_statements_by_name_and_prefix) {
  const embedded::file files[] = {
      {"first", "-- name: one\n-- why\nSELECT 1 FROM rowlock_lock;\n\n-- name: two\nSELECT 2;\n\n", ""},
      {"second", "-- name: three\nSELECT\n\n  -- why\n  3;", ""}};
  const sql_catalog catalog{files, "app_"};
  EXPECT_EQ(catalog["one"], "SELECT 1 FROM app_lock");
  EXPECT_EQ(catalog["two"], "SELECT 2");
  EXPECT_EQ(catalog["three"], "SELECT\n  3");
  EXPECT_THROW(catalog["four"], error);
}

TEST(sql_catalog_test, gives_a_text_two_names_and_a_line_to_one_of_them) {
  const auto catalog = catalog_of(
      "-- name: list\n-- name: show\n-- Locks.\nSELECT * FROM rowlock_lock\nWHERE name = ? -- only: show\n"
      "ORDER BY name -- only: list\n  -- only: show LIMIT 1\n;\n");
  EXPECT_EQ(catalog["list"], "SELECT * FROM app_lock\nORDER BY name");
  EXPECT_EQ(catalog["show"], "SELECT * FROM app_lock\nWHERE name = ?\n LIMIT 1");
}

TEST(sql_catalog_test, puts_constants_in) {
  const auto catalog =
      catalog_of("-- name: one\nSELECT 1 LIMIT :queue_read_limit, :queue_read_limits, :other;");
  EXPECT_EQ(catalog["one"],
            "SELECT 1 LIMIT " + std::to_string(queue_window + 1) + ", :queue_read_limits, :other");
}

TEST(sql_catalog_test, refuses_a_file_that_is_not_statements_with_names) {
  EXPECT_THROW(catalog_of("SELECT 1;\n-- name: one\nSELECT 2;"), error) << "no name";
  EXPECT_THROW(catalog_of("-- name: one\n-- why\n"), error) << "no text";
  EXPECT_THROW(catalog_of("-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;"), error) << "twice";
  EXPECT_THROW(catalog_of("-- name: one\nSELECT 1 -- only: two\n;"), error) << "another statement's line";
}

}  // namespace
}  // namespace rowlock::store
