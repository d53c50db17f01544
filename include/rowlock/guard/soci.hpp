// A guarded write through SOCI: the transaction commits only while the lock is held.
//
//   soci::transaction tx{sql};
//   rowlock::guard(sql, hold);   // before the reads and writes that it protects
//   sql << "UPDATE account …";
//   tx.commit();
//
// For SOCI's backends mysql and postgresql; guard/mysql.hpp and guard/pqxx.hpp say what is promised on each. It takes
// two round trips, three on PostgreSQL and four on Galera and a group with several primaries, because SOCI does not tell
// whether a transaction is open.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <soci/soci.h>

#include <string>

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

// A statement outside a transaction is a transaction of its own. Then the savepoint ends at once, and cannot be
// released.
inline void require_soci_transaction(soci::session& sql) {
  try {
    sql << "SAVEPOINT rowlock_guard";
    sql << "RELEASE SAVEPOINT rowlock_guard";
  } catch (const soci::soci_error& refusal) {
    const std::string text = refusal.get_error_message();  // what() also has the statement
    // In every language MariaDB and MySQL name the missing savepoint, and PostgreSQL the statement.
    if (text.find("rowlock_guard") == std::string::npos && text.find("SAVEPOINT") == std::string::npos) throw;
    throw error(errc::invalid_argument, "a guard needs an open transaction: soci::transaction before it");
  }
}

// MySQL and MariaDB refuse XA START inside a transaction, with a word that tells its kind in every language.
inline void require_plain_mysql_transaction(soci::session& sql) {
  try {
    sql << "XA START 'rowlock_guard'";
  } catch (const soci::soci_error& refusal) {
    const std::string text = refusal.get_error_message();  // what() also has the statement
    if (text.find("XAER_OUTSIDE") != std::string::npos) return;
    if (text.find("XAER_RMFAIL") == std::string::npos) throw;
    throw error(errc::invalid_argument,
                "a guard needs soci::transaction instead of an XA transaction, whose XA "
                "PREPARE releases the lock on the row");
  }
  sql << "XA END 'rowlock_guard'";
  sql << "XA ROLLBACK 'rowlock_guard'";
  throw error(errc::invalid_argument, "a guard needs an open transaction: soci::transaction before it");
}

}  // namespace detail

// Throws error(hold_lost) if the hold is not valid: roll the transaction back. Throws error(invalid_argument) outside a
// transaction, for other backends, and, with the exception in guard/mysql.hpp, in an XA transaction. Also throws what
// hold::guard_statement() and SOCI throw: soci::mysql_soci_error with err_num_ 1213 or 1020, also from a later statement
// of the transaction, means: roll back and run the whole transaction again (guard/mysql.hpp).
inline void guard(soci::session& sql, const hold& held) {
  const std::string backend = sql.get_backend_name();
  if (backend != "mysql" && backend != "postgresql") {
    throw error(errc::invalid_argument, "a guard needs SOCI's backend mysql or postgresql, not " + backend);
  }
  const guard_statement statement = held.guard_statement();
  // Where the guard writes the row, an XA transaction need not be refused: XA PREPARE keeps the lock on a written row.
  const bool may_be_xa = backend == "mysql" && statement.write.empty();
  if (!may_be_xa) detail::require_soci_transaction(sql);
  int one = 0;
  sql << detail::with_literals(statement.sql, statement.parameters), soci::into(one);
  bool proved = sql.got_data();
  if (may_be_xa) detail::require_plain_mysql_transaction(sql);
  if (proved && !statement.write.empty()) {
    soci::statement write = (sql.prepare << detail::with_literals(statement.write, statement.parameters));
    write.execute(true);
    proved = write.get_affected_rows() == 1;
  }
  if (!proved) detail::throw_guard_lost(held);
}

ROWLOCK_END_NAMESPACE
