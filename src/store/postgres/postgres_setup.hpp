// What every connection goes through once, before it is of use.
#pragma once

#include "store/postgres/postgres_connection.hpp"
#include "store/store.hpp"

#include <memory>
#include <string>

namespace rowlock::store {

// What the sessions of one database share.
struct postgres_context {
  postgres_context(const std::string& url, const store_options& given);

  store_options options;
  postgres_conninfo conninfo;
  sql_catalog catalog;
};

struct postgres_facts {
  std::string synchronous_commit;  // as pinned: on, or stronger
  std::string backend;             // pid and start
  bool has_meta = false;
};

// Pins the settings and refuses a server that is too old, a replica, or read-only, and a schema that is
// missing. statement_timeout 0: none, for migrations.
postgres_facts set_up(postgres_connection& connection, const postgres_context& context,
                      std::chrono::milliseconds statement_timeout);

// Throws error(not_migrated) or error(too_new).
void check_schema_version(postgres_connection& connection, const postgres_context& context,
                          const postgres_facts& facts);

}  // namespace rowlock::store
