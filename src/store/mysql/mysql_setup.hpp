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

// The size of a statement for 256 requests with names of 512 bytes, each in hex and several times. The
// server's max_allowed_packet must not be smaller.
inline constexpr std::int64_t largest_statement = 4 << 20;

// "10.11.6-MariaDB-..." and "8.0.36": major, minor and patch as one number, such as 8'00'36.
int mysql_version_number(const std::string& version);

// What all sessions of a database share.
struct mysql_context {
  mysql_context(const std::string& url, const store_options& given);

  store_options options;
  mysql_endpoint endpoint;
  sql_catalog catalog;
  // Whether the server is a node of a Galera cluster, or of a replication group with several primaries.
  mutable std::atomic<bool> clustered{false};
  // The place of the endpoint to which all connections go until one fails there.
  mutable std::atomic<std::size_t> place{0};
};

struct mysql_facts {
  std::string identity;         // of the server, of its Galera cluster, or of its group
  bool clustered = false;       // as in mysql_context
  std::string node;             // the server itself: its host and port
  std::int64_t connection = 0;  // the connection's number on the server
  // Our end of the connection, as the server knows it: address and port. On a Unix socket: localhost/ and the
  // process that listens on it.
  std::string peer;
  std::int64_t up_since = 0;  // when the server started, in seconds since 1970
  bool marker_stays = false;  // the marker's table is no MEMORY table: a restart does not empty it
  std::string danger;         // which setting endangers a promise of rowlock; empty: none known
};

// Throws an error that says what to do if a MySQL Router shares the connection between clients. Must be
// called before pin_settings, because the router does not refuse this check once a user variable is set.
void check_unshared(mysql_connection& connection);
// Sets every setting of the session that our statements rely on. statement_timeout 0: no limit, for migrations.
void pin_settings(mysql_connection& connection, const mysql_context& context,
                  std::chrono::milliseconds statement_timeout);
// Throws error(unreachable) if the URL demands encryption and there is no cipher.
void check_encryption(const mysql_context& context, const std::string& cipher);

// Sets the session's settings, refuses a server that is too old, read-only, or not part of its cluster, and
// returns what it has found out about the server.
mysql_facts set_up(mysql_connection& connection, const mysql_context& context,
                   std::chrono::milliseconds statement_timeout);

struct mysql_opened {
  std::unique_ptr<mysql_connection> connection;
  mysql_facts facts;
};

// Connects to the context's place and sets up the connection, or tries the next place if that one cannot be
// reached or is read-only. The places share options::connect_timeout. Throws the error of the last place.
mysql_opened open_connection(const mysql_context& context, std::chrono::milliseconds statement_timeout,
                             connect_watch& watch);

// Reads what connect_group has answered: whether the server is ONLINE in the majority of its replication group.
bool is_in_majority(mysql_rows& member);

// Version 0 if rowlock's tables are missing.
schema_state read_schema_state(mysql_connection& connection);

}  // namespace rowlock::store
