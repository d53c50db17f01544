#include "migrate/migrate_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> not_identifiers{
    "",   "Rowlock_",           "1_",    "a b",  "a;drop table x", "a'", "a\"", "a--", "a.b",
    "ä_", std::string(32, 'a'), "a\nb_", "$user"};

class prefix_test : public migrate_test {};

TEST_P(prefix_test, sets_of_tables_live_side_by_side) {
  auto settings = db.settings();
  settings.prefix = "other_";
  migrator other{db.url(), settings};
  other.up();
  EXPECT_FALSE(open().status().at(0).applied);
  open().up();
  other.down(0, true);
  EXPECT_THAT(open().verify(), IsEmpty());
  EXPECT_THAT(other.verify(), testing::ElementsAre(HasSubstr("other_*")));
}

TEST_P(prefix_test, names_of_differences_carry_it) {
  auto settings = db.settings();
  settings.prefix = "other_";
  migrator other{db.url(), settings};
  other.up();
  EXPECT_THAT(other.verify(), IsEmpty());
  db.run("ALTER TABLE other_lease DROP COLUMN host");
  EXPECT_THAT(other.verify(), testing::ElementsAre(HasSubstr("other_lease.host is missing")));
}

TEST_P(prefix_test, what_is_no_identifier_is_refused) {
  for (const auto& text : not_identifiers) {
    EXPECT_EQ(error_of([&] { std::ignore = shipped_migrations(dialect_of(GetParam()), text); }).code(),
              errc::invalid_argument)
        << text;
    auto settings = db.settings();
    settings.prefix = text;
    EXPECT_EQ(error_of([&] { migrator{db.url(), settings}; }).code(), errc::invalid_argument) << text;
    if (text.empty()) continue;  // an empty schema: the search_path decides
    settings = db.settings();
    settings.schema = text;
    EXPECT_EQ(error_of([&] { migrator{db.url(), settings}; }).code(), errc::invalid_argument) << text;
  }
  EXPECT_THAT(db.describe(), IsEmpty());
}

ROWLOCK_FOR_EACH_SQL_STORE(prefix_test);

}  // namespace rowlock::test
