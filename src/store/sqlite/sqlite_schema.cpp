#include "store/sqlite/sqlite_schema.hpp"

#include "store/decode.hpp"

#include <fmt/format.h>

namespace rowlock::store {

schema_state read_schema_state(sqlite_connection& connection, std::string_view prefix) {
  auto has_meta = connection.query("has_table", fmt::format("{}meta", prefix));
  if (!has_meta.next() || has_meta.integer(0) == 0) return {};
  return read_schema_state(connection.query("schema_state"));
}

}  // namespace rowlock::store
