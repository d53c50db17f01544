// What every connection goes through once, before it is of use.
#pragma once

#include "store/postgres/postgres_connection.hpp"
#include "store/schema_version.hpp"
#include "store/store.hpp"

#include <memory>
#include <optional>
#include <string>

namespace rowlock::store {

// What the sessions of one database share.
struct postgres_context {
  postgres_context(const std::string& url, const store_options& given);

  store_options options;
  postgres_conninfo conninfo;
  std::optional<postgres_conninfo> listen_conninfo;  // past the pooler
  sql_catalog catalog;
};

// In place of a backend's name where each transaction may have another: a stranger's could be hit.
inline constexpr std::string_view pooled_backend = "pooled";

struct postgres_facts {
  std::string synchronous_commit;  // as pinned: on, or stronger
  std::string backend;             // pid and start, or pooled_backend
  bool has_meta = false;
};

struct postgres_opened {
  std::unique_ptr<postgres_connection> connection;
  postgres_facts facts;
};

// Connects, pins the settings, and refuses a server that is too old, a replica, or read-only, and a schema
// that is missing. statement_timeout 0: none, for migrations.
postgres_opened open_connection(const postgres_context& context, std::chrono::milliseconds statement_timeout,
                                connect_watch& watch);

// The server and its database.
std::string place_of(postgres_connection& connection);
// A connection of its own past the pooler, to the same place.
std::unique_ptr<postgres_connection> open_listener(const postgres_context& context, const std::string& place,
                                                   connect_watch& watch);

// Version 0 where rowlock's tables are missing.
schema_state read_schema_state(postgres_connection& connection, bool has_meta);

// For messages.
std::string where(const store_options& options);

}  // namespace rowlock::store
