#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// psql and sqlite3 stand in for other tools that run rowlock's files as they are.
class adopt_test : public migrate_test {
 protected:
  // Expects one line for each migration, each of which matches.
  template <typename Matcher>
  void expect_each_line(const Matcher& matcher) {
    EXPECT_THAT(open().status(), AllOf(SizeIs(newest()), Each(matcher)));
  }
  static auto applied(bool yes) { return Field("applied", &migration_status::applied, yes); }
  static auto recorded(bool yes) { return Field("recorded", &migration_status::recorded, yes); }
};

TEST_P(adopt_test, files_that_a_tool_has_applied_pass_verify) {
  run_up_files();
  EXPECT_THAT(open().verify(), IsEmpty());
  expect_each_line(AllOf(applied(true), recorded(false)));
  EXPECT_THAT(open().up(), IsEmpty());
}

TEST_P(adopt_test, the_files_can_be_applied_twice) {
  run_up_files();
  db.run("UPDATE rowlock_meta SET epoch_s = 1000, skew_ms = 77");
  run_up_files();
  EXPECT_THAT(open().verify(), IsEmpty());
  // The migrations lower no token and keep the operator's setting.
  EXPECT_THAT(db.run("SELECT 'kept' FROM rowlock_meta WHERE epoch_s = 1000 AND skew_ms = 77"),
              HasSubstr("kept"));
}

TEST_P(adopt_test, fills_the_ledger_once) {
  run_up_files();
  EXPECT_THAT(versions(open().adopt(true)), all());
  expect_each_line(recorded(false));
  EXPECT_THAT(versions(open().adopt()), all());
  expect_each_line(
      AllOf(recorded(true), Field("checksum_matches", &migration_status::checksum_matches, true)));
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

TEST_P(adopt_test, the_down_files_take_everything_back) {
  run_up_files();
  run_down_files();
  EXPECT_THAT(db.describe(), IsEmpty());
  expect_each_line(applied(false));
}

ROWLOCK_FOR_EACH_SQL_STORE(adopt_test);

}  // namespace rowlock::test
