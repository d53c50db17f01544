// A guarded write through SOCI: the transaction commits only while the lock is held.
//
//   soci::transaction tx{sql};
//   rowlock::guard(sql, hold);   // before the reads and writes that it protects
//   sql << "UPDATE account …";
//   tx.commit();
//
// For the backends mysql and postgresql; rowlock/guard/mysql.hpp and pqxx.hpp say what is promised on each.
// It takes two round trips, and three on PostgreSQL and on a Galera cluster, for SOCI does not say whether a
// transaction is open.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <soci/soci.h>

#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

// A savepoint does not outlive its statement where no transaction is open.
inline void require_soci_transaction(soci::session& sql) {
  try {
    sql << "SAVEPOINT rowlock_guard";
    sql << "RELEASE SAVEPOINT rowlock_guard";
  } catch (const soci::soci_error& refusal) {
    const std::string text = refusal.what();
    // MariaDB and MySQL name the missing savepoint, PostgreSQL the statement; in whatever language.
    if (text.find("rowlock_guard") == std::string::npos && text.find("SAVEPOINT") == std::string::npos) throw;
    throw error(errc::invalid_argument, "a guard needs an open transaction: soci::transaction before it");
  }
}

// MySQL and MariaDB: inside of a transaction XA START is refused with a word that tells which kind of
// transaction it is, in every language of the server's.
inline void require_plain_mysql_transaction(soci::session& sql) {
  try {
    sql << "XA START 'rowlock_guard'";
  } catch (const soci::soci_error& refusal) {
    const std::string text = refusal.what();
    if (text.find("XAER_OUTSIDE") != std::string::npos) return;
    if (text.find("XAER_RMFAIL") == std::string::npos) throw;
    throw error(errc::invalid_argument,
                "an XA transaction cannot be guarded: XA PREPARE releases the lock on the row; use "
                "soci::transaction");
  }
  sql << "XA END 'rowlock_guard'";
  sql << "XA ROLLBACK 'rowlock_guard'";
  throw error(errc::invalid_argument, "a guard needs an open transaction: soci::transaction before it");
}

inline std::string soci_guard_hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789ABCDEF"[byte >> 4];
    text += "0123456789ABCDEF"[byte & 15];
  }
  return text;
}

// The parameters as literals in hex, in the place of ?, or of $1 and $2: no character set of this connection
// and no mode can change what they mean.
inline std::string soci_guard_text(const std::string& sql, const std::vector<std::string>& parameters) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const bool numbered = sql[i] == '$' && i + 1 < sql.size() && (sql[i + 1] == '1' || sql[i + 1] == '2');
    if (numbered) {
      const auto parameter = static_cast<std::size_t>(sql[++i] - '1');
      text += "convert_from(decode('" + soci_guard_hex(parameters[parameter]) + "', 'hex'), 'UTF8')";
    } else if (sql[i] == '?') {
      text += "x'" + soci_guard_hex(parameters[next++]) + '\'';
    } else {
      text += sql[i];
    }
  }
  return text;
}

}  // namespace detail

// Throws error(hold_lost) when the hold does not stand: roll the transaction back. Throws
// error(invalid_argument) outside of a transaction, in an XA one and for other backends, and what SOCI
// throws.
inline void guard(soci::session& sql, const hold& held) {
  const std::string backend = sql.get_backend_name();
  if (backend != "mysql" && backend != "postgresql") {
    throw error(errc::invalid_argument,
                "this guard knows SOCI's backends mysql and postgresql, not " + backend);
  }
  const guard_statement statement = held.guard_statement();
  // A cluster has no XA transactions.
  const bool may_be_xa = backend == "mysql" && statement.write.empty();
  if (!may_be_xa) detail::require_soci_transaction(sql);
  int one = 0;
  sql << detail::soci_guard_text(statement.sql, statement.parameters), soci::into(one);
  bool proved = sql.got_data();
  if (may_be_xa) detail::require_plain_mysql_transaction(sql);
  if (proved && !statement.write.empty()) {
    soci::statement write = (sql.prepare << detail::soci_guard_text(statement.write, statement.parameters));
    write.execute(true);
    proved = write.get_affected_rows() == 1;
  }
  if (!proved) {
    throw error(errc::hold_lost, "\"" + held.name() +
                                     "\" is not held any more, or this transaction's snapshot is older "
                                     "than the hold; roll back");
  }
}

ROWLOCK_END_NAMESPACE
