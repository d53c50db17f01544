#ifdef ROWLOCK_TEST_MYSQL

// What a dump carries from one server to another.
#include "migrate/blank_database.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

// The dump of a database by MariaDB's tools, as in a backup image.
std::string dump_command(const std::string& url) {
  auto command = mysql_client_command("mariadb", url);
  const std::string client =
      "mariadb --no-defaults --skip-ssl-verify-server-cert --batch --raw --skip-column-names";
  return command.replace(command.find(client), client.size(), "mariadb-dump --no-defaults");
}

// MySQL refuses values for a generated column (error 3105), and the dump has values for each column.
TEST(mysql_dump_test, of_mariadb_is_restored_into_mysql_and_tokens_rise) {
  if (selected_of({"mariadb", "mysql"}).size() < 2)
    GTEST_SKIP() << "one of mariadb and mysql is not selected";
  const blank_database source{"mariadb"}, target{"mysql"};
  migrator{source.url()}.up();
  fencing_token before;
  {
    const client db = connect(source.url());
    before = mutex{db, "nightly"}.acquire().token();
  }
  const auto restore = dump_command(source.url()) + " | " + mysql_client_command("mysql", target.url());
  ASSERT_EQ(std::system(("bash -o pipefail -c \"" + restore + "\"").c_str()), 0) << restore;
  const client db = connect(target.url());
  EXPECT_GT(mutex(db, "nightly").acquire().token(), before);
}

class epoch_floor_test : public testing::TestWithParam<std::string> {};

TEST_P(epoch_floor_test, keeps_its_value_when_it_becomes_an_ordinary_column_and_when_it_is_computed_again) {
  const blank_database database{GetParam()};
  migrator migrate{database.url()};
  migrate.up(4);
  database.run("UPDATE rowlock_meta SET epoch_s = 7, identity = 'another'");
  const auto floor = [&] { return std::stoll(database.run("SELECT epoch_floor FROM rowlock_meta")); };
  ASSERT_EQ(floor(), 7LL << 21);
  migrate.up();
  EXPECT_EQ(floor(), 7LL << 21);
  {
    const client db = connect(database.url());
    EXPECT_GE(mutex(db, "nightly").acquire().token().value(), 7LL << 21);
  }
  const auto raised = floor();
  EXPECT_GT(raised, 7LL << 21);
  database.run("DELETE FROM rowlock_lease");
  migrate.down(4);
  EXPECT_EQ(floor(), raised);
}

// A program of version 0.1.0 knows only the old column.
TEST_P(epoch_floor_test, follows_the_epoch_that_an_older_library_raises) {
  const blank_database database{GetParam()};
  migrator{database.url()}.up();
  const client db = connect(database.url());
  mutex nightly{db, "nightly"};
  const auto before = nightly.acquire().token().value();
  database.run("UPDATE rowlock_meta SET epoch = epoch + 1000");
  const auto old_floor = std::stoll(database.run("SELECT epoch FROM rowlock_meta")) << 27;
  ASSERT_GT(old_floor, before);
  EXPECT_GE(nightly.acquire().token().value(), old_floor);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(epoch_floor_test);

}  // namespace
}  // namespace rowlock::test

#endif
