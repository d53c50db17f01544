// The stores that tests run on: all of them, or those that --stores=memory,sqlite names.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {

const std::vector<std::string>& selected_stores();

// Takes --stores out of the arguments. Throws std::invalid_argument for an unknown store.
void select_stores(int& argc, char** argv);

// The selected stores among `names`; a suite for SQL stores alone passes the names of these.
std::vector<std::string> selected_of(std::initializer_list<std::string_view> names);

// Whether the store's server is MariaDB or MySQL. Both use the library's store "mysql".
bool has_mysql_dialect(const std::string& store);
// The library's name for the store: postgres, mysql or sqlite, the folders of migrations/.
std::string dialect_of(const std::string& store);

inline std::string store_test_name(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace rowlock::test

// Runs a suite of TestWithParam<std::string> once per selected store.
#define ROWLOCK_FOR_EACH_STORE(suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(stores, suite, testing::ValuesIn(::rowlock::test::selected_stores()), \
                           ::rowlock::test::store_test_name)

// Runs a suite on MariaDB and on MySQL.
#define ROWLOCK_FOR_EACH_MYSQL_SERVER(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(stores, suite,                                                         \
                           testing::ValuesIn(::rowlock::test::selected_of({"mariadb", "mysql"})), \
                           ::rowlock::test::store_test_name);                                     \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite)
