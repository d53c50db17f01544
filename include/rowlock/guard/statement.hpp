// A guard for a hold that another process has, as the command of `rowlock run` finds it in ROWLOCK_NAME and
// ROWLOCK_HOLD: its SQL, for a transaction of any driver in any language.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <string>

ROWLOCK_BEGIN_NAMESPACE

struct guard_target {
  std::string name;
  hold_id hold;
  bool is_shared = false;     // a shared or counted hold; with the wrong answer the statement finds no hold
  bool is_clustered = false;  // a Galera cluster, or a MySQL group with several primaries
  std::string schema{};       // of the tables, on PostgreSQL; empty: the connection's search_path decides
  std::string prefix = "rowlock_";
};

// What hold::guard_statement() returns for that hold. Connects to no database. database: postgresql, mysql, mariadb or
// sqlite, or the URL of one. Throws error(invalid_argument) for an unknown database, one whose store is not linked, a
// nil hold, which would prove a lock that rests, and a name, a prefix or a schema that rowlock does not allow.
[[nodiscard]] ROWLOCK_EXPORT guard_statement guard_statement_for(const std::string& database,
                                                                 const guard_target& target);

// The same for the database of a client, which knows what kind it is, whether it is a cluster, and its schema and prefix.
// Sends nothing. Throws error(invalid_argument) for a nil hold and an impossible name.
[[nodiscard]] ROWLOCK_EXPORT guard_statement guard_statement_for(const client& db, const std::string& name,
                                                                 hold_id hold, bool is_shared);

ROWLOCK_END_NAMESPACE
