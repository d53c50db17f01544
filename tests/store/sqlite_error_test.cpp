#include "store/sqlite/sqlite_error.hpp"

#include "sqlite_test.hpp"

namespace rowlock::test {
namespace {

const store::sql_catalog& catalog() {
  static const store::sql_catalog made{embedded::sqlite_queries(), "rowlock_"};
  return made;
}

errc code_of(int code, const std::string& said = "words") {
  return store::sqlite_error(code, said, "/x.db", catalog()).kind();
}

TEST(sqlite_error, maps_codes_with_what_they_mean_for_a_lock) {
  EXPECT_EQ(code_of(SQLITE_BUSY), errc::contention);
  EXPECT_EQ(code_of(SQLITE_BUSY_SNAPSHOT), errc::contention);
  EXPECT_EQ(code_of(SQLITE_BUSY_RECOVERY), errc::contention);
  EXPECT_EQ(code_of(SQLITE_INTERRUPT), errc::unreachable);
  EXPECT_EQ(code_of(SQLITE_CANTOPEN), errc::unreachable);
  EXPECT_EQ(code_of(SQLITE_IOERR_FSYNC), errc::database);
  EXPECT_EQ(code_of(SQLITE_FULL), errc::database);
  EXPECT_EQ(code_of(SQLITE_CORRUPT), errc::database);
  EXPECT_EQ(code_of(SQLITE_NOTADB), errc::invalid_argument);
  EXPECT_EQ(code_of(SQLITE_NOMEM), errc::unreachable);
  EXPECT_EQ(code_of(SQLITE_READONLY), errc::read_only);
  EXPECT_EQ(code_of(SQLITE_READONLY_DBMOVED), errc::read_only);
  EXPECT_EQ(code_of(SQLITE_AUTH), errc::privilege);
  EXPECT_EQ(code_of(SQLITE_PERM), errc::privilege);
  EXPECT_EQ(code_of(SQLITE_ERROR), errc::database);
  EXPECT_EQ(code_of(SQLITE_ERROR, "no such table: rowlock_lock"), errc::not_migrated);
  EXPECT_EQ(code_of(SQLITE_ERROR, "no such table: main.rowlock_lock"), errc::not_migrated);
  EXPECT_EQ(code_of(SQLITE_ERROR, "no such column: m.epoch_floor"), errc::not_migrated);
}

TEST(sqlite_error, what_a_trigger_misses_is_not_a_missing_migration) {
  EXPECT_EQ(code_of(SQLITE_ERROR, "no such table: main.audit"), errc::database);
  EXPECT_EQ(code_of(SQLITE_ERROR, "no such column: happening"), errc::database);
}

TEST(sqlite_error, keeps_the_extended_code_the_words_and_the_file) {
  const auto failure = store::sqlite_error(SQLITE_IOERR_FSYNC, "disk I/O error", "/x.db", catalog(), true);
  EXPECT_EQ(failure.database_code(), std::to_string(SQLITE_IOERR_FSYNC));
  EXPECT_TRUE(failure.outcome_unknown());
  EXPECT_NE(std::string{failure.what()}.find("disk I/O error"), std::string::npos);
  EXPECT_NE(std::string{failure.what()}.find("/x.db"), std::string::npos);
}

TEST(sqlite_error, only_an_interrupted_statement_or_commit_has_an_unknown_outcome) {
  EXPECT_TRUE(store::sqlite_error(SQLITE_INTERRUPT, "", "", catalog()).outcome_unknown());
  EXPECT_FALSE(store::sqlite_error(SQLITE_BUSY, "", "", catalog()).outcome_unknown());
}

}  // namespace
}  // namespace rowlock::test
