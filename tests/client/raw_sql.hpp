// A connection of the application's own, beside the library's, to the SQL database on which a test runs.
#pragma once

#include "support/store_fixture.hpp"

#include <rowlock/hold.hpp>

#include <memory>
#include <string>

namespace rowlock::test {

class raw_sql {
 public:
  raw_sql() = default;
  raw_sql(const raw_sql&) = delete;
  raw_sql& operator=(const raw_sql&) = delete;
  virtual ~raw_sql() = default;

  // Runs any number of statements. Throws std::runtime_error with the database's message.
  virtual void run(const std::string& sql) = 0;
  // The first column of the first row; empty if there is no row.
  virtual std::string value(const std::string& sql) = 0;
  // Calls rowlock's adapter for this driver.
  virtual void guard(const hold& held) = 0;
};

std::unique_ptr<raw_sql> open_raw_sql(const store_fixture& fixture);

}  // namespace rowlock::test
