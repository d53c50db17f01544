// One run of a prepared statement.
#pragma once

#include "model/ids.hpp"
#include "store/rows.hpp"
#include "store/sql_value.hpp"

#include <sqlite3.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

class sqlite_connection;

// The constructor binds the values, and the destructor resets the statement. Only one run of a statement may
// exist at a time.
class sqlite_query final : public rows {
 public:
  template <class... Values>
  sqlite_query(sqlite_connection& connection, sqlite3_stmt* statement, const Values&... values)
      : connection_{connection}, statement_{statement} {
    (bind(values), ...);
  }
  ~sqlite_query() override;
  sqlite_query(const sqlite_query&) = delete;
  sqlite_query& operator=(const sqlite_query&) = delete;

  // Throws as sqlite_error() maps SQLite's codes.
  bool next() override;
  // Runs the statement to its end, and returns how many rows it changed. Not for statements that never change
  // rows: after these SQLite returns the number of the statement before.
  std::int64_t run();

  // Listings give time spans in microseconds.
  std::chrono::milliseconds shown_time(std::string_view column) const override {
    return std::chrono::floor<std::chrono::milliseconds>(microseconds(column));
  }

 private:
  int columns() const override { return sqlite3_column_count(statement_); }
  std::string_view column_name(int index) const override { return sqlite3_column_name(statement_, index); }
  bool null_at(int index) const override { return sqlite3_column_type(statement_, index) == SQLITE_NULL; }
  std::string_view text_at(int index) const override;
  std::int64_t integer_at(int index) const override { return sqlite3_column_int64(statement_, index); }

  void bind(std::string_view value);
  void bind(std::integral auto value) {
    sqlite3_bind_int64(statement_, ++bound_, static_cast<std::int64_t>(value));
  }
  template <class Rep, class Period>
  void bind(std::chrono::duration<Rep, Period> value) {
    bind(value.count());
  }
  void bind(const model::id128& value) { bind(std::string_view{value.to_string()}); }
  void bind(sql_values values) {
    for (const auto& given : values) std::visit([&](const auto& value) { bind(value); }, given.value);
  }
  template <class Value>
  void bind(const std::optional<Value>& value) {
    if (value) {
      bind(*value);
    } else {
      sqlite3_bind_null(statement_, ++bound_);
    }
  }

  sqlite_connection& connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

}  // namespace rowlock::store
