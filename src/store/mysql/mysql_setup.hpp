// What every connection goes through once, before it is of use.
#pragma once

#include "store/migration_session.hpp"
#include "store/mysql/mysql_connection.hpp"
#include "store/store.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::store {

// What the sessions of one database share.
struct mysql_context {
  mysql_context(const std::string& url, const store_options& given);

  store_options options;
  mysql_endpoint endpoint;
  sql_catalog catalog;
  mutable std::atomic<bool> clustered{false};  // a Galera cluster was met
  mutable std::atomic<std::size_t> place{
      0};  // of the endpoint's, where all connections go until one fails there
};

struct mysql_facts {
  std::string identity;         // of the server, or of its Galera cluster
  bool clustered = false;       // a node of a Galera cluster
  std::string node;             // of the server itself
  std::int64_t connection = 0;  // its number there
  std::string peer;             // our end of it, as the server knows it: address and port; or localhost/
                                // and the server's process
  std::int64_t up_since = 0;    // seconds since 1970
  bool marker_stays = false;    // its table is not of MEMORY: a restart does not empty it
  std::string danger;           // what of the settings endangers a promise of rowlock's; empty: nothing known
};

// Pins the settings and refuses a server that is too old, read-only, or not part of its cluster.
// statement_timeout 0: none, for migrations.
mysql_facts set_up(mysql_connection& connection, const mysql_context& context,
                   std::chrono::milliseconds statement_timeout);

struct mysql_opened {
  std::unique_ptr<mysql_connection> connection;
  mysql_facts facts;
};

// Connects and sets up, at the context's place, or at the next one where that is not reached, or is
// read-only: the places share options::connect_timeout. Throws what the last of them said.
mysql_opened open_connection(const mysql_context& context, std::chrono::milliseconds statement_timeout,
                             connect_watch& watch);

// Version 0 where rowlock's tables are missing.
schema_state read_schema_state(mysql_connection& connection);

bool has_table(mysql_connection& connection, const std::string& table);

}  // namespace rowlock::store
