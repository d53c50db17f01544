#include "store/postgres/postgres_setup.hpp"

#include "store/decode.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::store {

namespace {

constexpr int oldest_server = 120000;  // the first with MATERIALIZED and plan_cache_mode

// How many sessions one attempt to connect may use up. A role's statement_timeout may end a session (under
// exit_on_error) before lift_limits has lifted the limit. On a busy machine a limit of 1 ms ends one session
// in a hundred.
constexpr int sessions_at_most = 20;

// An attempt to connect for notifications blocks the session, so it takes this long at most, and no more than
// half of what a statement may.
constexpr std::chrono::milliseconds listen_limit{1'000};

bool is_pooled(postgres_connection& connection, const postgres_conninfo& conninfo,
               std::chrono::milliseconds limit) {
  const auto said = conninfo.pooled();
  return said ? *said : !connection.has_own_backend(limit);
}

// Sets the settings for the session, or for each transaction if a pooler changes the session.
void pin_settings(postgres_connection& connection, const postgres_context& context,
                  const postgres_conninfo& conninfo, std::chrono::milliseconds statement_timeout) {
  const auto& options = context.options;
  const auto limit = std::to_string(statement_timeout.count());
  const bool pooled = is_pooled(connection, conninfo, statement_timeout);
  const std::string settings[] = {
      options.application.empty() ? std::string{"rowlock"} : "rowlock " + options.application, options.schema,
      limit, pooled ? "t" : "f"};
  if (pooled) {
    // Another client of the pooler may have set the session's search_path, so it is set back. If a schema was
    // given, connect_settings then sets the path to it.
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
  auto row = connection.call_once("connect_facts", options.schema, options.prefix + "meta");
  row.next();

  if (row.integer("version") < oldest_server) {
    throw error(errc::database, fmt::format("PostgreSQL {} is too old for rowlock, which needs 12 or later",
                                            row.integer("version") / 10000));
  }
  if (!options.read_only && row.boolean("in_recovery")) {
    throw error(errc::read_only, "this PostgreSQL server is a replica (in recovery); connect to the primary");
  }
  if (!options.read_only && row.boolean("read_only")) {
    throw error(
        errc::read_only,
        "default_transaction_read_only is on for this role or database, and rowlock must write; turn it off");
  }
  if (!row.boolean("schema_exists")) {
    throw error(errc::not_migrated,
                fmt::format("schema \"{0}\" does not exist; create it with CREATE SCHEMA {0}, then run: {1}",
                            options.schema, migrate_command(options)));
  }
  if (!row.boolean("has_meta") && !row.null("hidden_in")) {
    throw error(
        errc::privilege,
        fmt::format("the role \"{0}\" may not use the schema \"{1}\"; run: GRANT USAGE ON SCHEMA {1} TO {0}",
                    row.text("role"), row.text("hidden_in")));
  }
  return {.synchronous_commit = row.text("synchronous_commit"),
          .backend = connection.is_pooled() ? std::string{pooled_backend}
                                            : fmt::format("{} {}", row.text("pid"), row.text("started_us")),
          .has_meta = row.boolean("has_meta")};
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

std::unique_ptr<postgres_connection> open_unchecked(const postgres_context& context,
                                                    std::chrono::milliseconds statement_timeout,
                                                    connect_watch& watch) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + context.conninfo.connect_timeout();
  for (int session = 1;; ++session) {
    auto made = std::make_unique<postgres_connection>(context.conninfo, context.catalog, watch);
    const connect_watch::step step{watch, [opened = made.get()] { opened->interrupt(); }};
    try {
      pin_settings(*made, context, context.conninfo, statement_timeout);
    } catch (const error& failure) {
      const bool was_ended = failure.code() == errc::contention || failure.code() == errc::unreachable;
      if (!was_ended || session == sessions_at_most || watch.is_interrupted() || clock::now() >= deadline)
        throw;
      continue;
    }
    return made;
  }
}

postgres_opened open_connection(const postgres_context& context, std::chrono::milliseconds statement_timeout,
                                connect_watch& watch) {
  postgres_opened made{open_unchecked(context, statement_timeout, watch), {}};
  const connect_watch::step step{watch, [opened = made.connection.get()] { opened->interrupt(); }};
  made.facts = read_facts(*made.connection, context.options);
  return made;
}

std::string place_of(postgres_connection& connection) {
  auto place = connection.call_once("connect_place");
  place.next();
  return place.text(0);
}

std::unique_ptr<postgres_connection> open_listener(const postgres_context& context, const std::string& place,
                                                   connect_watch& watch) {
  const auto& conninfo = *context.listen_conninfo;
  auto made = std::make_unique<postgres_connection>(conninfo, context.catalog, watch);
  const connect_watch::step step{watch, [opened = made.get()] { opened->interrupt(); }};
  pin_settings(*made, context, conninfo, conninfo.connect_timeout());
  if (made->is_pooled()) throw error(errc::invalid_argument, "it also leads to a pooler");
  if (place_of(*made) != place) throw error(errc::invalid_argument, "it leads to another database");
  return made;
}

schema_state read_schema_state(postgres_connection& connection, bool has_meta) {
  if (!has_meta) return {};
  return read_schema_state(connection.call_once("schema_state"));
}

}  // namespace rowlock::store
