#include "store/postgres/postgres_setup.hpp"

#include <fmt/format.h>

namespace rowlock::store {

namespace {

constexpr int oldest_server = 120000;    // materialized CTEs, plan_cache_mode
constexpr int known_schema_version = 1;  // the one that is needed, and the newest one that is known

std::string where(const store_options& options) {
  return options.schema.empty() ? std::string{"the connection's search_path"}
                                : fmt::format("schema \"{}\"", options.schema);
}

}  // namespace

postgres_context::postgres_context(const std::string& url, const store_options& given)
    : options{given}, conninfo{url, given}, catalog{embedded::postgres_queries(), given.prefix} {}

postgres_facts set_up(postgres_connection& connection, const postgres_context& context,
                      std::chrono::milliseconds statement_timeout) {
  const auto& options = context.options;
  const auto application =
      options.application.empty() ? std::string{"rowlock"} : "rowlock " + options.application;
  connection.call_once("connect_settings", application, options.schema,
                       std::to_string(statement_timeout.count()));
  const auto row = connection.call_once("connect_facts", options.schema, options.prefix + "meta")[0];

  if (row["version"].as<int>() < oldest_server) {
    throw error(errc::database, fmt::format("PostgreSQL {} is too old for rowlock, which needs 12 or later",
                                            row["version"].as<int>() / 10000));
  }
  if (row["in_recovery"].as<bool>()) {
    throw error(errc::read_only, "this PostgreSQL server is a replica (in recovery); connect to the primary");
  }
  if (row["read_only"].as<bool>()) {
    throw error(errc::read_only,
                "default_transaction_read_only is on for this role or database; rowlock must write");
  }
  if (!row["schema_exists"].as<bool>()) {
    throw error(
        errc::not_migrated,
        fmt::format("schema \"{0}\" does not exist; make it with CREATE SCHEMA {0}, then run: rowlock "
                    "migrate up",
                    options.schema));
  }
  return {.synchronous_commit = row["synchronous_commit"].c_str(),
          .backend = fmt::format("{} {}", row["pid"].c_str(), row["started_us"].c_str()),
          .has_meta = row["has_meta"].as<bool>()};
}

void check_schema_version(postgres_connection& connection, const postgres_context& context,
                          const postgres_facts& facts) {
  const auto& options = context.options;
  if (!facts.has_meta) {
    throw postgres_not_migrated(0, fmt::format("table {}meta is not in {}, or this role may not use it",
                                               options.prefix, where(options)));
  }
  const auto rows = connection.call_once("schema_state");
  if (rows.empty()) throw postgres_not_migrated(0, fmt::format("table {}meta is empty", options.prefix));
  const int version = rows[0]["schema_version"].as<int>();
  const int min_library = rows[0]["min_library"].as<int>();
  if (version < known_schema_version) {
    throw postgres_not_migrated(version, fmt::format("rowlock's tables in {} are too old", where(options)));
  }
  if (min_library > known_schema_version) {
    throw error(
        errc::too_new,
        fmt::format("schema version {} in {} forbids libraries that do not know version {}; this one knows "
                    "{}. Update rowlock in this program",
                    version, where(options), min_library, known_schema_version));
  }
}

}  // namespace rowlock::store
