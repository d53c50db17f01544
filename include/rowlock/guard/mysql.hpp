// A guarded write through the C library of MariaDB or MySQL: the transaction commits only while the lock is
// held.
//
//   START TRANSACTION;
//   rowlock::guard(connection, hold);   // before the reads and writes that it protects
//   UPDATE account …;
//   COMMIT;
//
// Until the transaction ends nobody else can be granted the lock; renewals are not held up. InnoDB has no
// lock that leaves a row's other columns free, so those who want the lock meanwhile queue when it ends. Keep
// such a transaction shorter than they can wait. Beside a shared hold's guard other shared holds of the name
// come and go as always.
//
// Works at every isolation level. Under REPEATABLE READ, the default, a transaction whose snapshot is older
// than the hold is refused with error(hold_lost), or with the server's 1020 where innodb_snapshot_isolation
// is on: begin it after the acquire. Under SERIALIZABLE the server locks all rows that are read, in share
// mode: of two guarded transactions that read the same rows and then write them, one gets 1213 (SQLSTATE
// 40001). Nothing was written; begin it anew. The shortest time that MySQL waits for a lock is one second
// (innodb_lock_wait_timeout); MariaDB can be told not to wait.
//
// It needs a transaction of START TRANSACTION's: XA PREPARE releases the lock on the row while the
// transaction can still be committed, so inside of XA START the guard is refused. On InnoDB a ROLLBACK TO
// SAVEPOINT keeps it.
//
// On a Galera cluster the guard also writes the lock's row, for a cluster compares only what is written:
// there call it outside of any savepoint that you may go back to. Somebody who wants the lock at another node
// may then abort this transaction, at any of its statements or at COMMIT, with 1213 (SQLSTATE 40001): nothing
// was written; begin anew.
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
  throw error(errc::database, std::string{"the guard failed: "} + mysql_error(connection),
              mysql_sqlstate(connection));
}

// In one round trip, each parameter as a hexadecimal literal: no character set and no SQL mode can change
// what it means. Returns the number of rows that were read or changed.
inline std::uint64_t run_mysql_guard(MYSQL* connection, const std::string& sql,
                                     const std::vector<std::string>& parameters) {
  std::string text;
  auto next = parameters.begin();
  for (const char c : sql) {
    if (c != '?') {
      text += c;
      continue;
    }
    text += "x'";
    for (const unsigned char byte : *next++) {
      text += "0123456789ABCDEF"[byte >> 4];
      text += "0123456789ABCDEF"[byte & 15];
    }
    text += '\'';
  }
  if (mysql_real_query(connection, text.data(), static_cast<unsigned long>(text.size())) != 0) {
    throw_mysql_guard_failure(connection);
  }
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(connection),
                                                                      &mysql_free_result};
  if (rows) return mysql_num_rows(rows.get());
  if (mysql_field_count(connection) != 0) throw_mysql_guard_failure(connection);
  return mysql_affected_rows(connection);
}

// Inside of a transaction XA START is refused with a number that tells which kind of transaction it is.
inline void refuse_mysql_xa(MYSQL* connection) {
  constexpr unsigned in_xa = 1399;
  constexpr unsigned in_another = 1400;
  const std::string probe = "XA START 'rowlock_guard'";
  if (mysql_real_query(connection, probe.data(), static_cast<unsigned long>(probe.size())) == 0) {
    for (const std::string end : {"XA END 'rowlock_guard'", "XA ROLLBACK 'rowlock_guard'"}) {
      if (mysql_real_query(connection, end.data(), static_cast<unsigned long>(end.size())) != 0) {
        throw_mysql_guard_failure(connection);
      }
    }
    throw error(errc::invalid_argument, "a guard needs an open transaction: START TRANSACTION before it");
  }
  const unsigned refusal = mysql_errno(connection);
  if (refusal == in_xa) {
    throw error(errc::invalid_argument,
                "an XA transaction cannot be guarded: XA PREPARE releases the lock on the row; use START "
                "TRANSACTION");
  }
  if (refusal != in_another) throw_mysql_guard_failure(connection);
}

}  // namespace detail

// Throws error(hold_lost) when the hold does not stand: roll the transaction back. Throws
// error(invalid_argument) outside of a transaction and in an XA one, error(database) with the SQLSTATE for
// what the server says; 40001 means: begin anew. Two round trips.
inline void guard(MYSQL* connection, const hold& held) {
  // With autocommit off the guard itself begins a transaction, which is as good.
  if ((connection->server_status & SERVER_STATUS_IN_TRANS) == 0 &&
      (connection->server_status & SERVER_STATUS_AUTOCOMMIT) != 0) {
    throw error(errc::invalid_argument, "a guard needs an open transaction: START TRANSACTION before it");
  }
  const guard_statement statement = held.guard_statement();
  const bool proved = detail::run_mysql_guard(connection, statement.sql, statement.parameters) == 1;
  // A cluster has no XA transactions, and what is written stays locked.
  if (statement.write.empty()) detail::refuse_mysql_xa(connection);
  if (!proved || (!statement.write.empty() &&
                  detail::run_mysql_guard(connection, statement.write, statement.parameters) != 1)) {
    throw error(errc::hold_lost, "\"" + held.name() +
                                     "\" is not held any more, or this transaction's snapshot is older "
                                     "than the hold; roll back");
  }
}

ROWLOCK_END_NAMESPACE
