// The stores of suites that need an SQL database.
#pragma once

#include "support/stores.hpp"

// Runs a suite of TestWithParam<std::string> once per selected SQL store.
#define ROWLOCK_FOR_EACH_SQL_STORE(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      stores, suite,                                                                               \
      testing::ValuesIn(::rowlock::test::selected_of({"sqlite", "postgres", "mariadb", "mysql"})), \
      ::rowlock::test::store_test_name);                                                           \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite)
