// One run of a prepared statement.
#pragma once

#include "model/ids.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

class sqlite_connection;

// Bound when it is made, reset when it goes. One at a time of the same statement.
class sqlite_query {
 public:
  template <class... Values>
  sqlite_query(sqlite_connection& connection, sqlite3_stmt* statement, const Values&... values)
      : connection_{connection}, statement_{statement} {
    [[maybe_unused]] int index = 0;
    (bind(++index, values), ...);
  }
  ~sqlite_query();
  sqlite_query(const sqlite_query&) = delete;
  sqlite_query& operator=(const sqlite_query&) = delete;

  // To the next row; false when there is none. Throws what sqlite_error says.
  bool next();
  // Runs it to its end; returns how many rows it changed. Not for statements that change none by their
  // nature: SQLite then tells the number of the statement before.
  std::int64_t run();

  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) const;
  template <class Id>
  Id id(int column) const {
    return Id::parse(text(column));
  }
  template <class Id>
  std::optional<Id> optional_id(int column) const {
    if (null(column)) return {};
    return id<Id>(column);
  }

 private:
  void bind(int index, std::int64_t value) { sqlite3_bind_int64(statement_, index, value); }
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view{value}); }
  void bind(int index, const model::id128& value) { bind(index, std::string_view{value.to_string()}); }
  template <class Id>
  void bind(int index, const std::optional<Id>& value) {
    if (value) {
      bind(index, *value);
    } else {
      sqlite3_bind_null(statement_, index);
    }
  }

  sqlite_connection& connection_;
  sqlite3_stmt* statement_;
};

}  // namespace rowlock::store
