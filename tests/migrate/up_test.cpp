#include "migrate/migrate_test.hpp"
#include "store/open.hpp"

#include <rowlock/client.hpp>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

class up_test : public migrate_test {};

TEST_P(up_test, applies_what_is_missing_and_then_nothing) {
  EXPECT_THAT(versions(open().up()), all());
  EXPECT_THAT(open().up(), IsEmpty());
  EXPECT_EQ(db.run("SELECT schema_version FROM rowlock_meta"), std::to_string(newest()));
}

TEST_P(up_test, records_each_in_the_ledger) {
  open().up();
  const auto lines = open().status();
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(newest()));
  EXPECT_EQ(lines[0].title, "locks");
  EXPECT_TRUE(lines[0].applied);
  EXPECT_TRUE(lines[0].recorded);
  EXPECT_TRUE(lines[0].checksum_matches);
  EXPECT_THAT(lines[0].applied_at, testing::MatchesRegex("20[0-9-]+T[0-9:]+[0-9.]*Z"));
}

TEST_P(up_test, leaves_the_schema_that_verify_expects) {
  open().up();
  EXPECT_THAT(open().verify(), IsEmpty());
}

// A client that connects while the row is missing gets an error that names this command.
TEST_P(up_test, puts_back_a_row_of_meta_that_is_missing) {
  open().up();
  const auto database = store::open(db.url(), {.schema = db.settings().schema});
  const auto session = database->connect();
  db.run("DELETE FROM rowlock_meta");
  const auto problem = error_of([&] { session->read_database_state(); });
  EXPECT_EQ(problem.code(), errc::not_migrated);
  EXPECT_THAT(problem.what(), testing::AllOf(HasSubstr("rowlock_meta"), HasSubstr("migrate up")));
  EXPECT_THAT(versions(open().up()), all());
  EXPECT_NO_THROW(session->read_database_state());
}

TEST_P(up_test, dry_run_says_the_same_and_does_nothing) {
  EXPECT_THAT(versions(open().up({}, true)), all());
  EXPECT_THAT(db.describe(), IsEmpty());
  EXPECT_FALSE(open().status().at(0).applied);
}

// A team that gives the lock tables a prefix of its own may have a table of that name.
TEST_P(up_test, leaves_a_table_that_is_not_rowlocks_as_it_is) {
  open().up(2);
  db.run("CREATE TABLE rowlock_history (id integer PRIMARY KEY, note integer)");
  db.run("INSERT INTO rowlock_history VALUES (1, 7)");
  for (const bool dry_run : {true, false}) {
    const auto problem = error_of([&] { open().up({}, dry_run); });
    EXPECT_EQ(problem.code(), errc::schema);
    EXPECT_THAT(problem.what(),
                HasSubstr("0003_operators would take over the table rowlock_history, which is "
                          "not rowlock's, because it has no column"));
  }
  EXPECT_EQ(db.run("SELECT schema_version FROM rowlock_meta"), "2") << "nothing was applied";
  EXPECT_EQ(db.run("SELECT note FROM rowlock_history"), "7");
}

TEST_P(up_test, leaves_a_table_that_is_not_rowlocks_in_a_blank_database) {
  db.run("CREATE TABLE rowlock_lease (id integer PRIMARY KEY, tenant integer)");
  const auto problem = error_of([&] { open().up(); });
  EXPECT_THAT(problem.what(), HasSubstr("take over the table rowlock_lease"));
  db.run("DROP TABLE rowlock_lease");
  open().up();
  EXPECT_THAT(open().verify(), IsEmpty());
}

TEST_P(up_test, refuses_a_version_that_is_not_shipped) {
  for (const int version : {-1, 0, newest() + 1}) {
    const auto problem = error_of([&] { open().up(version); });
    EXPECT_EQ(problem.code(), errc::invalid_argument);
    EXPECT_THAT(problem.what(), HasSubstr("there is no migration"));
  }
  EXPECT_THAT(db.describe(), IsEmpty());
}

TEST_P(up_test, refuses_a_ledger_with_another_checksum) {
  open().up();
  db.run("UPDATE rowlock_migration SET checksum = 'abc'");
  const auto problem = error_of([&] { open().up(); });
  EXPECT_EQ(problem.code(), errc::schema);
  EXPECT_THAT(problem.what(), HasSubstr("checksum"));
  EXPECT_FALSE(open().status().at(0).checksum_matches);
}

// Another tool reverted a migration. That tool does not know the ledger, which still names the migration.
TEST_P(up_test, applies_again_what_another_tool_has_reverted) {
  open().up();
  run_down_files();
  db.run("UPDATE rowlock_migration SET checksum = 'of an older file'");
  EXPECT_FALSE(open().status().at(0).applied);
  EXPECT_THAT(versions(open().up()), all());
  EXPECT_THAT(open().verify(), IsEmpty());
}

TEST_P(up_test, can_be_run_again_after_an_interruption) {
  // A killed tool may leave this: the first statements of the file have run.
  open().up(1);
  db.run("DROP TABLE rowlock_meta; DROP TABLE rowlock_queue; DROP TABLE rowlock_migration");
  EXPECT_THAT(versions(open().up()), all());
  EXPECT_THAT(open().verify(), IsEmpty());
}

ROWLOCK_FOR_EACH_SQL_STORE(up_test);

}  // namespace rowlock::test
