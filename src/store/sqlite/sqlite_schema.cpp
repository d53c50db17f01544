#include "store/sqlite/sqlite_schema.hpp"

#include <fmt/format.h>

namespace rowlock::store {

bool has_table(sqlite_connection& connection, const std::string& table) {
  auto query = connection.query("has_table", table);
  return query.next() && query.integer(0) > 0;
}

schema_state read_schema_state(sqlite_connection& connection, std::string_view prefix) {
  if (!has_table(connection, fmt::format("{}meta", prefix))) return {};
  auto query = connection.query("schema_state");
  if (!query.next()) return {};
  return {.version = static_cast<int>(query.integer(0)), .min_library = static_cast<int>(query.integer(1))};
}

}  // namespace rowlock::store
