// Connects, and prepares and checks a new connection.
#pragma once

#include "store/migration_session.hpp"
#include "store/mysql/mysql_connection.hpp"
#include "store/store.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::store {

// 256 requests with names of 512 bytes, each in hex and several times: max_allowed_packet must not be smaller.
inline constexpr std::int64_t largest_statement = 4 << 20;

// "10.11.6-MariaDB-..." and "8.0.36": major, minor and patch as one number, such as 8'00'36.
int mysql_version_number(const std::string& version);

// What all sessions of a database share.
struct mysql_context {
  mysql_context(const std::string& url, const store_options& given);

  store_options options;
  mysql_endpoint endpoint;
  sql_catalog catalog;
  mutable std::atomic<bool> clustered{false};  // the server is a node of a Galera cluster
  // The place of the endpoint to which all connections go until one fails there.
  mutable std::atomic<std::size_t> place{0};
};

struct mysql_facts {
  std::string identity;         // of the server, or of its Galera cluster
  bool clustered = false;       // a node of a Galera cluster
  std::string node;             // the server itself
  std::int64_t connection = 0;  // the connection's number on the server
  std::string
      peer;  // our end, as the server knows it: address and port; or localhost/ and the server's process
  std::int64_t up_since = 0;  // when the server started, in seconds since 1970
  bool marker_stays = false;  // the marker's table is no MEMORY table: a restart does not empty it
  std::string danger;         // which setting endangers a promise of rowlock; empty: none known
};

// Throws an error that says what to do if a MySQL Router shares the connection between clients. Before pin_settings.
void check_unshared(mysql_connection& connection);
// Sets every setting of the session that our statements rely on. statement_timeout 0: no limit, for migrations.
void pin_settings(mysql_connection& connection, const mysql_context& context,
                  std::chrono::milliseconds statement_timeout);
// Throws error(unreachable) if the URL demands encryption and there is no cipher.
void check_encryption(const mysql_context& context, const std::string& cipher);

// Sets the session's settings, and refuses a server that is too old, read-only, or not part of its cluster.
mysql_facts set_up(mysql_connection& connection, const mysql_context& context,
                   std::chrono::milliseconds statement_timeout);

struct mysql_opened {
  std::unique_ptr<mysql_connection> connection;
  mysql_facts facts;
};

// Connects and sets up at the context's place, or at the next one if that cannot be reached or is read-only.
// The places share options::connect_timeout. Throws the error of the last place.
mysql_opened open_connection(const mysql_context& context, std::chrono::milliseconds statement_timeout,
                             connect_watch& watch);

// Reads what connect_group has answered: whether the server is ONLINE in the majority of its replication group.
bool is_in_majority(mysql_rows& member);

// Version 0 if rowlock's tables are missing.
schema_state read_schema_state(mysql_connection& connection);

}  // namespace rowlock::store
