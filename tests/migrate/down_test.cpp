#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class down_test : public migrate_test {};

TEST_P(down_test, to_zero_only_with_destroy_tokens) {
  open().up();
  const auto problem = error_of([&] { open().down(0); });
  EXPECT_EQ(problem.code(), errc::invalid_argument);
  EXPECT_THAT(problem.what(), HasSubstr("--destroy-tokens"));
  EXPECT_THAT(open().verify(), IsEmpty());

  EXPECT_THAT(versions(open().down(0, true)), all_downwards());
  EXPECT_THAT(db.describe(), IsEmpty());
  EXPECT_FALSE(open().status().at(0).recorded);
}

// One step down from version 1 leads to version 0, for which the same is required.
TEST_P(down_test, one_step_is_no_way_around_it) {
  open().up(1);
  EXPECT_EQ(error_of([&] { open().down(); }).code(), errc::invalid_argument);
}

TEST_P(down_test, refuses_while_leases_live) {
  open().up();
  db.add_lease(60);
  const auto problem = error_of([&] { open().down(0, true); });
  EXPECT_EQ(problem.code(), errc::schema);
  EXPECT_THAT(problem.what(), HasSubstr("1 lease is in use"));
  EXPECT_THAT(db.describe(), Not(IsEmpty()));
}

TEST_P(down_test, an_expired_lease_is_in_nobodys_way) {
  open().up();
  db.add_lease(-60);
  EXPECT_THAT(versions(open().down(0, true)), all_downwards());
}

TEST_P(down_test, dry_run_says_the_same_and_does_nothing) {
  open().up();
  EXPECT_THAT(versions(open().down(0, true, true)), all_downwards());
  EXPECT_THAT(open().verify(), IsEmpty());
  EXPECT_TRUE(open().status().at(0).recorded);
}

TEST_P(down_test, dry_run_refuses_what_the_real_one_would) {
  open().up();
  EXPECT_EQ(error_of([&] { open().down(0, false, true); }).code(), errc::invalid_argument);
  db.add_lease(60);
  EXPECT_EQ(error_of([&] { open().down(0, true, true); }).code(), errc::schema);
}

// Another tool may have applied the migration, which does nothing if the table is there.
TEST_P(down_test, does_not_drop_a_table_that_is_not_rowlocks) {
  open().up();
  db.run("DROP TABLE rowlock_history");
  db.run("CREATE TABLE rowlock_history (id integer PRIMARY KEY, note integer)");
  const auto problem = error_of([&] { open().down(2); });
  EXPECT_EQ(problem.code(), errc::schema);
  EXPECT_THAT(problem.what(), HasSubstr("0003_operators would drop the table rowlock_history"));
  EXPECT_EQ(db.run("SELECT schema_version FROM rowlock_meta"), std::to_string(newest()))
      << "nothing was reverted";
  EXPECT_NO_THROW(db.run("SELECT note FROM rowlock_history"));
}

TEST_P(down_test, nothing_to_do_is_no_error) {
  EXPECT_THAT(open().down(), IsEmpty());
  open().up();
  EXPECT_THAT(open().down(newest()), IsEmpty());
  EXPECT_EQ(error_of([&] { open().down(-1, true); }).code(), errc::invalid_argument);
}

TEST_P(down_test, and_up_again) {
  open().up();
  open().down(0, true);
  EXPECT_THAT(versions(open().up()), all());
  EXPECT_THAT(open().verify(), IsEmpty());
}

ROWLOCK_FOR_EACH_SQL_STORE(down_test);

}  // namespace rowlock::test
