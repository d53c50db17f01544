// Connects, and prepares and checks a new connection.
#pragma once

#include "store/postgres/postgres_connection.hpp"
#include "store/schema_version.hpp"
#include "store/store.hpp"

#include <memory>
#include <optional>
#include <string>

namespace rowlock::store {

// What all sessions of a database share.
struct postgres_context {
  postgres_context(const std::string& url, const store_options& given);

  store_options options;
  postgres_conninfo conninfo;
  std::optional<postgres_conninfo> listen_conninfo;  // leads past the pooler
  sql_catalog catalog;
};

// What stands in postgres_facts::backend behind a pooler, where the backend may change with each transaction.
// Such a backend is never ended, because it may serve another client.
inline constexpr std::string_view pooled_backend = "pooled";

struct postgres_facts {
  std::string synchronous_commit;  // the session's setting: on, or stronger
  std::string backend;             // pid and start, or pooled_backend
  bool has_meta = false;
};

struct postgres_opened {
  std::unique_ptr<postgres_connection> connection;
  postgres_facts facts;
};

// Connects and sets the settings.
std::unique_ptr<postgres_connection> open_unchecked(const postgres_context& context,
                                                    std::chrono::milliseconds statement_timeout,
                                                    connect_watch& watch);

// As open_unchecked(), but refuses a server that is too old, a replica, or read-only, and a missing schema.
// statement_timeout 0: no limit, for migrations.
postgres_opened open_connection(const postgres_context& context, std::chrono::milliseconds statement_timeout,
                                connect_watch& watch);

// Names the server and its database.
std::string place_of(postgres_connection& connection);
// Another connection, past the pooler. Throws if it does not lead to the same place.
std::unique_ptr<postgres_connection> open_listener(const postgres_context& context, const std::string& place,
                                                   connect_watch& watch);

// Version 0 if rowlock's tables are missing.
schema_state read_schema_state(postgres_connection& connection, bool has_meta);

// Names the schema for messages.
std::string where(const store_options& options);

}  // namespace rowlock::store
