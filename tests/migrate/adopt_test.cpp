#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// psql and sqlite3 stand for the tools that run our files as they are.
class adopt_test : public migrate_test {
 protected:
  void apply_with_the_tool() { db.run_file(db.migrations() / "0001_locks.up.sql"); }
};

TEST_P(adopt_test, files_that_a_tool_has_applied_pass_verify) {
  apply_with_the_tool();
  EXPECT_THAT(open().verify(), IsEmpty());
  const auto line = open().status().at(0);
  EXPECT_TRUE(line.applied);
  EXPECT_FALSE(line.recorded);
  EXPECT_THAT(open().up(), IsEmpty());
}

TEST_P(adopt_test, the_file_can_be_applied_twice) {
  apply_with_the_tool();
  apply_with_the_tool();
  EXPECT_THAT(open().verify(), IsEmpty());
}

TEST_P(adopt_test, fills_the_ledger_once) {
  apply_with_the_tool();
  EXPECT_THAT(versions(open().adopt(true)), ElementsAre(1));
  EXPECT_FALSE(open().status().at(0).recorded);
  EXPECT_THAT(versions(open().adopt()), ElementsAre(1));
  EXPECT_TRUE(open().status().at(0).recorded);
  EXPECT_TRUE(open().status().at(0).checksum_matches);
  EXPECT_THAT(open().adopt(), IsEmpty());
  EXPECT_THAT(open().verify(), IsEmpty());
}

TEST_P(adopt_test, has_nothing_to_do_after_up) {
  open().up();
  EXPECT_THAT(open().adopt(), IsEmpty());
}

TEST_P(adopt_test, refuses_an_unmigrated_database) {
  const auto problem = error_of([&] { open().adopt(); });
  EXPECT_EQ(problem.code(), errc::schema);
  EXPECT_THAT(problem.what(), HasSubstr("rowlock migrate up"));
}

TEST_P(adopt_test, the_down_file_takes_everything_back) {
  apply_with_the_tool();
  db.run_file(db.migrations() / "0001_locks.down.sql");
  EXPECT_THAT(db.describe(), IsEmpty());
  EXPECT_FALSE(open().status().at(0).applied);
}

ROWLOCK_FOR_EACH_SQL_STORE(adopt_test);

}  // namespace rowlock::test
