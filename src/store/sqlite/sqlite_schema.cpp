#include "store/sqlite/sqlite_schema.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

namespace rowlock::store {
namespace {

constexpr int library_version = 1;

std::string migrate_command(const sqlite_connection& connection, std::string_view prefix) {
  const auto option = prefix == "rowlock_" ? std::string{} : fmt::format("--prefix {} ", prefix);
  return fmt::format("rowlock --url sqlite:{} {}migrate up", connection.path(), option);
}

}  // namespace

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

void check_schema_version(sqlite_connection& connection, std::string_view prefix) {
  const auto state = read_schema_state(connection, prefix);
  if (state.version < library_version) {
    throw error(errc::not_migrated,
                state.version == 0
                    ? fmt::format("the tables {}* are missing in {}; run: {}", prefix, connection.path(),
                                  migrate_command(connection, prefix))
                    : fmt::format("the schema in {} has version {}, and this library needs {}; run: {}",
                                  connection.path(), state.version, library_version,
                                  migrate_command(connection, prefix)));
  }
  if (state.min_library > library_version) {
    throw error(
        errc::too_new,
        fmt::format("the schema in {} needs a library that knows version {} (meta.min_library), and this one "
                    "knows {}; install a newer rowlock (rowlock migrate status shows more)",
                    connection.path(), state.min_library, library_version));
  }
}

}  // namespace rowlock::store
