// Which rights a role of the database needs: what `rowlock migrate grants` prints.
#pragma once

#include <rowlock/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// What a role does with rowlock.
enum class role_use : std::uint8_t {
  run,      // uses locks
  observe,  // only looks at them
  operate,  // the same as run, and sees other sessions, so that diagnose() can judge everything
  migrate,  // creates and upgrades the tables; on PostgreSQL it must own those that exist
  write,    // only makes guarded writes, with a hold that another role has
};

// Returns the statements that give a role these rights, without semicolons and with quoted names. None for SQLite,
// where the file's permissions decide. role: on MariaDB and MySQL a user or role, with a host after the last '@' if it
// has one. schema: the tables' schema (PostgreSQL; empty: public) or database (MariaDB and MySQL; empty: the current
// one). Throws error(invalid_argument) for an unknown dialect, a role that is empty or has control characters, a
// schema or prefix that is not [a-z_][a-z0-9_]{0,30}, and the prefixes `re` and `un`, which would make reserved words of
// tables' names.
[[nodiscard]] ROWLOCK_EXPORT std::vector<std::string> grant_statements(
    const std::string& dialect, const std::string& role, role_use use, const std::string& schema = {},
    const std::string& prefix = "rowlock_");

ROWLOCK_END_NAMESPACE
