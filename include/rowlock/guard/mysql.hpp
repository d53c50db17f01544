// A guarded write through MariaDB's or MySQL's C library: the transaction commits only while the lock is held.
//
//   START TRANSACTION;
//   rowlock::guard(connection, hold);   // before the reads and writes that it protects
//   UPDATE account …;
//   COMMIT;
//
// Nobody else can be granted the lock until the transaction ends; renewals are not delayed. InnoDB locks whole rows, so
// other callers cannot even join the queue before it ends: keep the transaction shorter than they can wait. The guard
// of a shared hold does not affect other shared holds of the name.
//
// The guard works at every isolation level. Under REPEATABLE READ, the default, begin the transaction after the
// acquire: if its snapshot is older than the hold, the guard refuses it with error(hold_lost). Under
// SERIALIZABLE the server locks all rows that are read, in share mode. If two guarded transactions read the
// same rows and then write them, one gets error 1213 (SQLSTATE 40001) and has written nothing: retry it. MySQL
// waits for a row lock for at least one second (innodb_lock_wait_timeout); MariaDB can be configured not to wait.
//
// MariaDB has innodb_snapshot_isolation, which is ON by default from 11.6. With it, the guard and every later
// statement may get error 1020 when a row has changed since the transaction's snapshot; a waiter that joins the
// queue changes the lock's row. The server has rolled the transaction back: retry it, as for 1213.
//
// The guard needs START TRANSACTION. In an XA transaction the guard is refused, because XA PREPARE releases the lock
// on the row while the transaction can still be committed. It is not refused where the guard also writes the row, see
// below: XA PREPARE keeps the lock on a written row.
//
// The guard ends with its transaction. The server commits before DDL (also CREATE TABLE IF NOT EXISTS), TRUNCATE, LOCK
// TABLES and a second START TRANSACTION, so use none of them behind the guard. With innodb_rollback_on_timeout it rolls
// back at error 1205. After an error begin again from the guard. Call it before any savepoint: a ROLLBACK TO SAVEPOINT
// to an earlier one may end the guard, and to a later one keeps it.
//
// On a Galera cluster and in a MySQL group with several primaries the guard also writes the lock's row, because they
// detect conflicts only between writes. A caller on another node that wants the lock may then abort this transaction,
// at any statement or at COMMIT, with error 1213. Nothing was written then: retry it. On Galera never send several of
// its statements in one text (CLIENT_MULTI_STATEMENTS): MariaDB may undo the first ones without an error and commit the
// others.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#if __has_include(<mysql.h>)
#include <mysql.h>
#elif __has_include(<mariadb/mysql.h>)
#include <mariadb/mysql.h>
#else
#include <mysql/mysql.h>
#endif

#include <memory>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

[[noreturn]] inline void throw_mysql_guard_failure(MYSQL* connection) {
  // The server's own SQLSTATE for 1020 is HY000, as for any error.
  constexpr unsigned record_changed = 1020;
  const bool retry = mysql_errno(connection) == record_changed;
  throw error(errc::database, std::string{"the guard failed: "} + mysql_error(connection),
              retry ? "40001" : mysql_sqlstate(connection));
}

// Takes one round trip. Returns the number of rows that were read or changed.
inline std::uint64_t run_mysql_guard(MYSQL* connection, const std::string& sql, const guard_statement& of) {
  const std::string text = with_literals(sql, of.parameters);
  if (mysql_real_query(connection, text.data(), static_cast<unsigned long>(text.size())) != 0) {
    throw_mysql_guard_failure(connection);
  }
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(connection),
                                                                      &mysql_free_result};
  if (rows) return mysql_num_rows(rows.get());
  if (mysql_field_count(connection) != 0) throw_mysql_guard_failure(connection);
  return mysql_affected_rows(connection);
}

// The server refuses XA START inside a transaction, with an error number that tells the kind of the transaction.
inline void refuse_mysql_xa(MYSQL* connection) {
  constexpr unsigned in_xa = 1399;
  constexpr unsigned in_another = 1400;
  if (mysql_query(connection, "XA START 'rowlock_guard'") == 0) {
    for (const char* end : {"XA END 'rowlock_guard'", "XA ROLLBACK 'rowlock_guard'"}) {
      if (mysql_query(connection, end) != 0) throw_mysql_guard_failure(connection);
    }
    throw error(errc::invalid_argument, "a guard needs an open transaction: START TRANSACTION before it");
  }
  if (mysql_errno(connection) == in_xa) {
    throw error(errc::invalid_argument,
                "a guard needs START TRANSACTION instead of an XA transaction, whose XA "
                "PREPARE releases the lock on the row");
  }
  if (mysql_errno(connection) != in_another) throw_mysql_guard_failure(connection);
}

}  // namespace detail

// Two round trips. Throws error: hold_lost if the hold is not valid: roll the transaction back; invalid_argument
// outside a transaction and in an XA transaction, except as above; database with the server's SQLSTATE, where 40001
// means: retry. The SQLSTATE is 40001 for error 1020, too. Also throws what hold::guard_statement() throws.
inline void guard(MYSQL* connection, const hold& held) {
  // With autocommit off the guard itself begins a transaction.
  if ((connection->server_status & SERVER_STATUS_IN_TRANS) == 0 &&
      (connection->server_status & SERVER_STATUS_AUTOCOMMIT) != 0) {
    throw error(errc::invalid_argument, "a guard needs an open transaction: START TRANSACTION before it");
  }
  const guard_statement proof = held.guard_statement();
  bool proved = detail::run_mysql_guard(connection, proof.sql, proof) == 1;
  // Where the guard writes the row, an XA transaction need not be refused: XA PREPARE keeps the lock on a written row.
  if (proof.write.empty()) detail::refuse_mysql_xa(connection);
  if (!proof.write.empty()) proved = proved && detail::run_mysql_guard(connection, proof.write, proof) == 1;
  if (!proved) detail::throw_guard_lost(held);
}

ROWLOCK_END_NAMESPACE
