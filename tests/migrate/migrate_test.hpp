// The fixture of the migrator's tests: a blank database of each SQL store.
#pragma once

#include "migrate/blank_database.hpp"
#include "support/sql_stores.hpp"

#include <rowlock/error.hpp>
#include <rowlock/migrate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

class migrate_test : public testing::TestWithParam<std::string> {
 protected:
  blank_database db{GetParam()};

  void run_file(const migration& file, const std::string& half) {
    db.run_file(db.migrations() / fmt::format("{:04}_{}.{}.sql", file.version, file.title, half));
  }

  migrator open() { return migrator{db.url(), db.settings()}; }
  int newest() { return required_schema_version(); }
  // Matches the versions of all migrations, in the order in which they are applied.
  auto all() {
    std::vector<int> upwards;
    for (int version = 1; version <= newest(); ++version) upwards.push_back(version);
    return testing::ElementsAreArray(upwards);
  }
  // Matches the versions of all migrations, in the order in which they are reverted.
  auto all_downwards() {
    std::vector<int> downwards;
    for (int version = newest(); version > 0; --version) downwards.push_back(version);
    return testing::ElementsAreArray(downwards);
  }
  // Runs all up files as another tool would.
  void run_up_files() {
    for (const auto& file : shipped_migrations(GetParam())) run_file(file, "up");
  }
  void run_down_files() {
    auto files = shipped_migrations(GetParam());
    std::reverse(files.begin(), files.end());
    for (const auto& file : files) run_file(file, "down");
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
