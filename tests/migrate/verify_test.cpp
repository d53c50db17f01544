#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class verify_test : public migrate_test {};

TEST_P(verify_test, missing_tables_name_the_command) {
  EXPECT_THAT(open().verify(), ElementsAre(HasSubstr("rowlock migrate up")));
}

TEST_P(verify_test, a_missing_column_is_a_difference) {
  open().up();
  db.run("ALTER TABLE rowlock_lease DROP COLUMN host");
  EXPECT_THAT(open().verify(), ElementsAre(HasSubstr("rowlock_lease.host is missing")));
}

TEST_P(verify_test, a_missing_table_is_a_difference) {
  open().up();
  db.run("DROP TABLE rowlock_marker");
  EXPECT_THAT(open().verify(), Contains(HasSubstr("rowlock_marker.value is missing")));
}

TEST_P(verify_test, another_type_is_a_difference) {
  open().up();
  db.run("ALTER TABLE rowlock_lease DROP COLUMN host; ALTER TABLE rowlock_lease ADD COLUMN host date");
  EXPECT_THAT(
      open().verify(),
      ElementsAre(testing::ContainsRegex("rowlock_lease\\.host is date; expected [a-zA-Z0-9() ]+ not null")));
}

// Migrations expand before they contract: this version may run beside a newer one.
TEST_P(verify_test, more_columns_and_tables_are_none) {
  open().up();
  db.run(
      "ALTER TABLE rowlock_lock ADD COLUMN colour text; CREATE TABLE rowlock_more (id integer PRIMARY KEY)");
  EXPECT_THAT(open().verify(), IsEmpty());
}

TEST_P(verify_test, another_checksum_is_a_difference) {
  open().up();
  db.run("UPDATE rowlock_migration SET checksum = 'abc' WHERE version <= 2");
  EXPECT_THAT(open().verify(), ElementsAre(AllOf(HasSubstr("0001_locks"), HasSubstr("checksum")),
                                           AllOf(HasSubstr("0002_seconds"), HasSubstr("checksum"))));
  db.run("DELETE FROM rowlock_migration WHERE version = 1");
  EXPECT_THAT(open().verify(), ElementsAre(HasSubstr("0002_seconds")));
}

TEST_P(verify_test, a_ledger_ahead_of_meta_is_a_difference) {
  open().up();
  db.run(
      "INSERT INTO rowlock_migration (version, title, checksum, applied_at) "
      "SELECT 7, 'later', 'abc', applied_at FROM rowlock_migration WHERE version = 1");
  EXPECT_THAT(open().verify(), ElementsAre(HasSubstr("0007_later")));
}

ROWLOCK_FOR_EACH_SQL_STORE(verify_test);

}  // namespace rowlock::test
