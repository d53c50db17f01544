// Which object is missing, according to a server's message in several languages. Needs no server.
#include "store/missing_object.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

bool own(std::string_view said) {
  static constexpr embedded::file file{"q", "-- name: read\nSELECT l.epoch, t, list FROM rowlock_lock AS l",
                                       ""};
  static const store::sql_catalog catalog{{&file, 1}, "p_"};
  return store::names_rowlocks_own(said, catalog);
}

TEST(missing_object, is_rowlocks_if_its_statements_use_that_name) {
  for (const auto* said : {
           R"(relation "p_lock" does not exist)",
           R"(relation "app.p_lock" does not exist)",
           R"(column l.epoch does not exist)",
           R"(column "epoch" of relation "p_lock" does not exist)",
           "la relation \u00ab\u00a0p_lock\u00a0\u00bb n'existe pas",
           "Relation \u00bbp_lock\u00ab existiert nicht",
           "Table 'shop.p_lock' doesn't exist",
           "Unknown column 'l.epoch' in 'field list'",
           "Unknown column 'epoch' in 'SELECT'",
           "no such table: p_lock",
           "no such table: main.p_lock",
           "no such column: epoch",
       }) {
    EXPECT_TRUE(own(said)) << said;
  }
}

TEST(missing_object, is_somebody_elses_otherwise) {
  for (const auto* said : {
           R"(relation "audit" does not exist)",
           R"(relation "p_lock.audit" does not exist)",
           R"(relation "rowlock_lock" does not exist)",
           R"(relation "p_locks" does not exist)",
           R"(column "epoch" of relation "audit" does not exist)",
           R"(record "new" has no field "nope")",
           "Relation \u00bbaudit\u00ab existiert nicht",
           "Table 'shop.audit' doesn't exist",
           "Unknown column 'audit.nope' in 'field list'",
           "Unknown column 'nope' in 'NEW'",
           "no such table: main.audit",
           "it said list",
           "",
       }) {
    EXPECT_FALSE(own(said)) << said;
  }
}

}  // namespace
}  // namespace rowlock::test
