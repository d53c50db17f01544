// A guarded write through sqlite3: the transaction commits only while the lock is held.
//
//   BEGIN IMMEDIATE;
//   rowlock::guard(connection, hold);   // first, before the reads and writes that it protects
//   UPDATE account …;
//   COMMIT;
//
// It takes SQLite's write lock and renews the lease inside the transaction: until that ends nobody can be
// granted anything in this file, and nobody's lease can be renewed either, so keep it short against the ttl.
// Call it before any SAVEPOINT: one that is rolled back keeps the write lock, but undoes the renewal.
// A deferred transaction that has read before it is refused with SQLITE_BUSY_SNAPSHOT when somebody has
// written since.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <sqlite3.h>

#include <memory>

ROWLOCK_BEGIN_NAMESPACE

// Throws error(hold_lost) when the hold does not stand: roll the transaction back. Throws
// error(invalid_argument) outside of a transaction, error(database) with the extended result code for what
// SQLite says; BUSY means: begin anew.
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
  if (rows == 0) throw error(errc::hold_lost, "\"" + held.name() + "\" is not held any more; roll back");
}

ROWLOCK_END_NAMESPACE
