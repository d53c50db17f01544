// What the migrator's tests share: a blank database of each SQL store.
#pragma once

#include "migrate/blank_database.hpp"
#include "support/stores.hpp"

#include <rowlock/error.hpp>
#include <rowlock/migrate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

class migrate_test : public testing::TestWithParam<std::string> {
 protected:
  blank_database db{GetParam()};

  migrator open() { return migrator{db.url(), db.settings()}; }
  int newest() { return required_schema_version(); }
  // Matches the versions of all migrations, in the order in which they are applied.
  auto all() {
    std::vector<int> upwards;
    for (int version = 1; version <= newest(); ++version) upwards.push_back(version);
    return testing::ElementsAreArray(upwards);
  }
};

inline std::vector<int> versions(const std::vector<migration>& files) {
  std::vector<int> result;
  for (const auto& file : files) result.push_back(file.version);
  return result;
}

// The error that the call throws. The test fails if it throws none.
inline error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& problem) {
    return problem;
  }
  ADD_FAILURE() << "an error was expected";
  return {errc::internal, ""};
}

}  // namespace rowlock::test

#define ROWLOCK_FOR_EACH_SQL_STORE(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(stores, suite,                                                                    \
                           testing::ValuesIn(::rowlock::test::selected_of({"sqlite", "postgres", "mysql"})), \
                           ::rowlock::test::store_test_name);                                                \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite)
