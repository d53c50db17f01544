#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A newer rowlock has migrated the database, and this version meets its schema.
class newer_schema_test : public migrate_test {
 protected:
  void migrate_further(int min_library) {
    open().up();
    db.run(fmt::format("UPDATE rowlock_meta SET schema_version = {}, min_library = {}", newest() + 1,
                       min_library));
  }
};

TEST_P(newer_schema_test, is_fine_unless_it_forbids) {
  migrate_further(1);
  EXPECT_THAT(open().up(), IsEmpty());
  EXPECT_THAT(open().verify(), IsEmpty());
  const auto lines = open().status();
  ASSERT_EQ(lines.size(), newest() + 1U);
  EXPECT_TRUE(lines.back().applied);
  EXPECT_THAT(lines.back().title, HasSubstr("newer than this rowlock; the two work"));
}

TEST_P(newer_schema_test, refuses_this_library_when_it_forbids) {
  migrate_further(newest() + 1);
  const auto problem = error_of([&] { open().up(); });
  EXPECT_EQ(problem.code(), errc::too_new);
  EXPECT_THAT(problem.what(), HasSubstr("install a newer rowlock"));
  EXPECT_THAT(open().verify(), ElementsAre(HasSubstr("meta.min_library")));
  EXPECT_THAT(open().status().back().title, HasSubstr("forbids"));
}

TEST_P(newer_schema_test, is_taken_down_by_its_own_version) {
  migrate_further(1);
  const auto problem = error_of([&] { open().down(0, true); });
  EXPECT_EQ(problem.code(), errc::schema);
  EXPECT_THAT(problem.what(), HasSubstr("the version that went up"));
}

ROWLOCK_FOR_EACH_SQL_STORE(newer_schema_test);

}  // namespace rowlock::test
