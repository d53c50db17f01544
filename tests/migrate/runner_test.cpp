#include "migrate/runner.hpp"

#include "migrate/migrate_test.hpp"
#include "store/open.hpp"

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Several steps over a real database: the shipped migrations and two made-up ones.
class runner_test : public migrate_test {
 protected:
  std::unique_ptr<store::migration_session> session = [this] {
    store::store_options how;
    how.schema = db.settings().schema;
    return store::open_for_migration(db.url(), how);
  }();

  // The first two shipped files, whatever else is shipped, and two more.
  std::vector<migration> files = [] {
    auto result = shipped_migrations(dialect_of(GetParam()));
    result.resize(2);
    for (const int version : {3, 4}) {
      const auto number = std::to_string(version);
      result.push_back(
          {.version = version,
           .title = "more",
           .checksum = "sum" + number,
           .up = "CREATE TABLE more_" + number +
                 " (id integer PRIMARY KEY); UPDATE rowlock_meta SET schema_version = " + number + ";",
           .down = "DROP TABLE more_" + number +
                   "; UPDATE rowlock_meta SET schema_version = " + std::to_string(version - 1) + ";"});
    }
    return result;
  }();

  migrate::runner runner() { return {*session, files, {}, "rowlock_"}; }
  std::string version() { return db.run("SELECT schema_version FROM rowlock_meta"); }
};

TEST_P(runner_test, goes_up_and_down_by_steps) {
  EXPECT_THAT(versions(runner().up(3, false)), ElementsAre(1, 2, 3));
  EXPECT_EQ(version(), "3");
  EXPECT_THAT(runner().verify(), ElementsAre(HasSubstr("has version 3, and this library needs 4")));
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(4));
  EXPECT_THAT(versions(runner().down({}, false, false)), ElementsAre(4));
  EXPECT_EQ(version(), "3");
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(4));
  EXPECT_THAT(versions(runner().down(2, false, false)), ElementsAre(4, 3));
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(runner().status().at(2).recorded, false);
}

TEST_P(runner_test, a_file_that_fails_is_not_applied_and_can_be_run_again) {
  const std::string begins = "CREATE TABLE IF NOT EXISTS more_4 (id integer PRIMARY KEY); ";
  runner().up(3, false);
  files[3].up = begins + "SELECT nothing FROM nowhere;";
  EXPECT_THROW(runner().up({}, false), error);
  EXPECT_EQ(version(), "3");
  EXPECT_FALSE(runner().status().at(3).applied);
  EXPECT_FALSE(runner().status().at(3).recorded);
  // MariaDB commits each DDL statement by itself.
  if (!has_mysql_dialect(GetParam())) {
    EXPECT_THROW(db.run("SELECT count(*) FROM more_4"), std::runtime_error);
  }
  files[3].up = begins + "UPDATE rowlock_meta SET schema_version = 4;";
  runner().up({}, false);
  EXPECT_EQ(version(), "4");
}

TEST_P(runner_test, a_file_that_does_not_record_its_version_is_a_fault) {
  files[2].up = "CREATE TABLE more_3 (id integer PRIMARY KEY);";
  const auto problem = error_of([&] { runner().up({}, false); });
  EXPECT_EQ(problem.code(), errc::internal);
  EXPECT_THAT(problem.what(), HasSubstr("0003_more"));
}

// Nothing keeps two migrators on two nodes of a Galera cluster from running at the same time.
TEST_P(runner_test, what_another_migrator_has_reached_meanwhile_is_not_applied_again) {
  const auto last = files[3].up;
  files[2].up += last;
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(1, 2, 3));
  EXPECT_EQ(version(), "4");
}

TEST_P(runner_test, a_file_that_fails_is_done_if_another_migrator_has_reached_its_version) {
  files[3].up += "SELECT nothing FROM nowhere;";
  // On the other databases the failure rolls back the version, too.
  if (!has_mysql_dialect(GetParam())) {
    EXPECT_THROW(runner().up({}, false), error);
    return;
  }
  EXPECT_NO_THROW(runner().up({}, false));
  EXPECT_EQ(version(), "4");
  EXPECT_TRUE(runner().status().at(3).recorded);
}

TEST_P(runner_test, an_entry_that_another_migrator_has_removed_is_recorded_again) {
  files[3].up += "DELETE FROM rowlock_migration WHERE version = 4;";
  runner().up({}, false);
  EXPECT_TRUE(runner().status().at(3).recorded);
}

TEST_P(runner_test, adopt_takes_only_what_is_applied) {
  db.run_file(db.migrations() / "0001_locks.up.sql");
  db.run_file(db.migrations() / "0002_seconds.up.sql");
  db.run(files[2].up);
  EXPECT_THAT(versions(runner().adopt(false)), ElementsAre(1, 2, 3));
  EXPECT_THAT(versions(runner().up({}, false)), ElementsAre(4));
}

ROWLOCK_FOR_EACH_SQL_STORE(runner_test);

}  // namespace rowlock::test
