#include "store/postgres/postgres_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::store {

namespace {

constexpr int oldest_server = 120000;  // materialized CTEs, plan_cache_mode

// A role's statement_timeout may end a session (under exit_on_error) before its limits are lifted. On a busy
// machine a limit of 1 ms ends one of a hundred.
constexpr int sessions_at_most = 20;

// An attempt to listen holds up the session, which has one statement's time for it.
constexpr std::chrono::milliseconds listen_limit{1'000};

bool is_pooled(postgres_connection& connection, const postgres_conninfo& conninfo,
               std::chrono::milliseconds limit) {
  const auto said = conninfo.pooled();
  return said ? *said : !connection.has_own_backend(limit);
}

// For the session, or where it is not ours, for each transaction.
void pin_settings(postgres_connection& connection, const postgres_context& context,
                  const postgres_conninfo& conninfo, std::chrono::milliseconds statement_timeout) {
  const auto& options = context.options;
  const auto limit = std::to_string(statement_timeout.count());
  const bool pooled = is_pooled(connection, conninfo, statement_timeout);
  const std::string settings[] = {
      options.application.empty() ? std::string{"rowlock"} : "rowlock " + options.application, options.schema,
      limit, pooled ? "t" : "f"};
  if (pooled) {
    // A stranger may have set the path for the session; connect_settings sets another where there is a
    // schema.
    return connection.set_pooled(
        fmt::format("SET LOCAL statement_timeout = {};\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED{};\n"
                    "SET LOCAL search_path TO DEFAULT;\n{};\n",
                    limit, options.read_only ? ", READ ONLY" : "",
                    with_arguments(context.catalog["connect_settings"], settings)));
  }
  connection.script("lift_limits", "SET statement_timeout = 0");
  connection.call_once("connect_settings", settings[0], settings[1], settings[2], settings[3]);
  if (options.read_only) connection.script("read_only", "SET default_transaction_read_only = on");
}

postgres_facts read_facts(postgres_connection& connection, const store_options& options) {
  const auto row = connection.call_once("connect_facts", options.schema, options.prefix + "meta")[0];

  if (row["version"].as<int>() < oldest_server) {
    throw error(errc::database, fmt::format("PostgreSQL {} is too old for rowlock, which needs 12 or later",
                                            row["version"].as<int>() / 10000));
  }
  if (!options.read_only && row["in_recovery"].as<bool>()) {
    throw error(errc::read_only, "this PostgreSQL server is a replica (in recovery); connect to the primary");
  }
  if (!options.read_only && row["read_only"].as<bool>()) {
    throw error(errc::read_only,
                "default_transaction_read_only is on for this role or database; rowlock must write");
  }
  if (!row["schema_exists"].as<bool>()) {
    throw error(errc::not_migrated,
                fmt::format("schema \"{0}\" does not exist; make it with CREATE SCHEMA {0}, then run: {1}",
                            options.schema, migrate_command(options)));
  }
  if (!row["has_meta"].as<bool>() && !row["hidden_in"].is_null()) {
    throw error(
        errc::privilege,
        fmt::format("the role \"{0}\" may not look into the schema \"{1}\"; GRANT USAGE ON SCHEMA {1} TO {0}",
                    row["role"].c_str(), row["hidden_in"].c_str()));
  }
  return {.synchronous_commit = row["synchronous_commit"].c_str(),
          .backend = connection.is_pooled()
                         ? std::string{pooled_backend}
                         : fmt::format("{} {}", row["pid"].c_str(), row["started_us"].c_str()),
          .has_meta = row["has_meta"].as<bool>()};
}

}  // namespace

std::string where(const store_options& options) {
  return options.schema.empty() ? std::string{"the connection's search_path"}
                                : fmt::format("schema \"{}\"", options.schema);
}

postgres_context::postgres_context(const std::string& url, const store_options& given)
    : options{given}, conninfo{url, given}, catalog{embedded::postgres_queries(), given.prefix} {
  if (given.listen_url.empty()) return;
  listen_conninfo.emplace(given.listen_url, given, std::min(listen_limit, given.statement_timeout / 2));
}

postgres_opened open_connection(const postgres_context& context, std::chrono::milliseconds statement_timeout,
                                connect_watch& watch) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + context.conninfo.connect_timeout();
  for (int session = 1;; ++session) {
    postgres_opened made;
    made.connection = std::make_unique<postgres_connection>(context.conninfo, context.catalog, watch);
    const connect_watch::step step{watch, [opened = made.connection.get()] { opened->interrupt(); }};
    try {
      pin_settings(*made.connection, context, context.conninfo, statement_timeout);
    } catch (const error& failure) {
      const bool was_ended = failure.code() == errc::contention || failure.code() == errc::unreachable;
      if (!was_ended || session == sessions_at_most || watch.is_interrupted() || clock::now() >= deadline)
        throw;
      continue;
    }
    made.facts = read_facts(*made.connection, context.options);
    return made;
  }
}

std::string place_of(postgres_connection& connection) {
  return connection.call_once("connect_place")[0][0].c_str();
}

std::unique_ptr<postgres_connection> open_listener(const postgres_context& context, const std::string& place,
                                                   connect_watch& watch) {
  const auto& conninfo = *context.listen_conninfo;
  auto made = std::make_unique<postgres_connection>(conninfo, context.catalog, watch);
  const connect_watch::step step{watch, [opened = made.get()] { opened->interrupt(); }};
  pin_settings(*made, context, conninfo, conninfo.connect_timeout());
  if (made->is_pooled()) throw error(errc::invalid_argument, "it leads to a pooler, too");
  if (place_of(*made) != place) throw error(errc::invalid_argument, "it leads to another database");
  return made;
}

schema_state read_schema_state(postgres_connection& connection, bool has_meta) {
  if (!has_meta) return {};
  const auto rows = connection.call_once("schema_state");
  if (rows.empty()) return {};
  return {.version = rows[0]["schema_version"].as<int>(), .min_library = rows[0]["min_library"].as<int>()};
}

}  // namespace rowlock::store
