#include "store/sqlite/sqlite_schema.hpp"

#include "store/decode.hpp"

#include <fmt/format.h>

namespace rowlock::store {

bool has_table(sqlite_connection& connection, const std::string& table) {
  auto query = connection.query("has_table", table);
  return query.next() && query.integer(0) > 0;
}

schema_state read_schema_state(sqlite_connection& connection, std::string_view prefix) {
  if (!has_table(connection, fmt::format("{}meta", prefix))) return {};
  return read_schema_state(connection.query("schema_state"));
}

}  // namespace rowlock::store
