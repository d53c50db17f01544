// A guarded write through sqlite3: the transaction commits only while the lock is held.
//
//   BEGIN IMMEDIATE;
//   rowlock::guard(connection, hold);   // first, before the reads and writes that it protects
//   UPDATE account …;
//   COMMIT;
//
// The guard takes SQLite's write lock and renews the lease in the transaction, unless the lease has expired. Until the
// transaction ends, no lock in this file can be granted and no lease renewed, so keep it much shorter than the ttl.
// Call it before any SAVEPOINT: rolling back to one keeps the write lock, but undoes the renewal. If a deferred
// transaction has read before the guard and somebody has written since, SQLite refuses it with SQLITE_BUSY_SNAPSHOT.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <sqlite3.h>

#include <memory>

ROWLOCK_BEGIN_NAMESPACE

// Throws error(hold_lost) if the hold is not valid: roll the transaction back. Throws error(invalid_argument) outside a
// transaction, and error(database) with SQLite's extended result code; BUSY means: retry the transaction. Also throws
// what hold::guard_statement() throws.
inline void guard(sqlite3* connection, const hold& held) {
  if (sqlite3_get_autocommit(connection) != 0) {
    throw error(errc::invalid_argument, "a guard needs an open transaction: BEGIN IMMEDIATE before it");
  }
  const guard_statement statement = held.guard_statement();
  sqlite3_stmt* prepared = nullptr;
  int result = sqlite3_prepare_v2(connection, statement.sql.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owner{prepared, &sqlite3_finalize};
  int rows = 0;
  if (result == SQLITE_OK) {
    for (int i = 0; i < 2; ++i) {
      const std::string& parameter = statement.parameters[static_cast<std::size_t>(i)];
      sqlite3_bind_text(prepared, i + 1, parameter.data(), static_cast<int>(parameter.size()),
                        SQLITE_TRANSIENT);
    }
    while ((result = sqlite3_step(prepared)) == SQLITE_ROW) ++rows;
  }
  if (result != SQLITE_OK && result != SQLITE_DONE) {
    throw error(errc::database, std::string{"the guard failed: "} + sqlite3_errmsg(connection),
                std::to_string(sqlite3_extended_errcode(connection)));
  }
  if (rows == 0) detail::throw_guard_lost(held);
}

ROWLOCK_END_NAMESPACE
