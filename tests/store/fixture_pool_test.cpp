#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif
#ifdef ROWLOCK_TEST_POSTGRES
#include <pqxx/pqxx>
#endif

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

class fixture_pool_test : public testing::TestWithParam<std::string> {
 protected:
  static void run(const store_fixture& on, const std::string& sql) {
#ifdef ROWLOCK_TEST_MYSQL
    if (has_mysql_dialect(GetParam())) mysql_connection{as_application(on.observer_url())}.run(sql);
#endif
#ifdef ROWLOCK_TEST_POSTGRES
    if (GetParam() == "postgres") {
      pqxx::connection connection{on.observer_url()};
      pqxx::nontransaction{connection}.exec(sql);
    }
#endif
  }
  // What tells the tables of two fixtures apart: the database on MariaDB and MySQL, the prefix on PostgreSQL.
  static std::string place_of(const store_fixture& one) {
    return one.url() + ' ' + one.options().prefix;
  }
  // Where the tables of the next fixture are, when a test has used these.
  static std::string place_after(std::unique_ptr<store_fixture> used) {
    used.reset();
    return place_of(*borrow_store_fixture(GetParam()));
  }
};

TEST_P(fixture_pool_test, lends_tables_again_when_only_rows_have_changed) {
  auto used = borrow_store_fixture(GetParam());
  const auto place = place_of(*used);
  run(*used, "UPDATE " + used->options().prefix + "meta SET epoch_s = 77");
  EXPECT_EQ(place_after(std::move(used)), place);
}

TEST_P(fixture_pool_test, lends_no_tables_whose_columns_have_changed) {
  auto used = borrow_store_fixture(GetParam());
  const auto place = place_of(*used);
  run(*used, "ALTER TABLE " + used->options().prefix + "lock ADD COLUMN made_up INTEGER");
  EXPECT_NE(place_after(std::move(used)), place);
}

TEST_P(fixture_pool_test, lends_no_tables_beside_which_there_is_another_one) {
  auto used = borrow_store_fixture(GetParam());
  const auto place = place_of(*used);
  run(*used, "CREATE TABLE " + used->options().prefix + "made_up (id INTEGER NOT NULL PRIMARY KEY)");
  EXPECT_NE(place_after(std::move(used)), place);
}

INSTANTIATE_TEST_SUITE_P(stores, fixture_pool_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(fixture_pool_test);

}  // namespace
}  // namespace rowlock::test
