// A guarded write through SOCI: the transaction commits only while the lock is held.
//
//   soci::transaction tx{sql};
//   rowlock::guard(sql, hold);   // before the reads and writes that it protects
//   sql << "UPDATE account …";
//   tx.commit();
//
// For the backends mysql and postgresql; rowlock/guard/mysql.hpp and pqxx.hpp say what is promised on each.
// It takes three round trips, for SOCI does not say whether a transaction is open.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <soci/soci.h>

#include <string>

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

// SOCI's own placeholders instead of ?, or $1 and $2.
inline std::string soci_guard_text(const std::string& sql) {
  std::string text;
  int next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const bool numbered = sql[i] == '$' && i + 1 < sql.size() && (sql[i + 1] == '1' || sql[i + 1] == '2');
    if (!numbered && sql[i] != '?') {
      text += sql[i];
      continue;
    }
    const int parameter = numbered ? sql[++i] - '1' : next++;
    text += parameter == 0 ? ":rowlock_name" : ":rowlock_hold";
  }
  return text;
}

}  // namespace detail

// Throws error(hold_lost) when the hold does not stand: roll the transaction back. Throws
// error(invalid_argument) outside of a transaction and for other backends, and what SOCI throws.
inline void guard(soci::session& sql, const hold& held) {
  const std::string backend = sql.get_backend_name();
  if (backend != "mysql" && backend != "postgresql") {
    throw error(errc::invalid_argument,
                "this guard knows SOCI's backends mysql and postgresql, not " + backend);
  }
  detail::require_soci_transaction(sql);
  const guard_statement statement = held.guard_statement();
  const std::string& name = statement.parameters[0];
  const std::string& id = statement.parameters[1];
  int one = 0;
  sql << detail::soci_guard_text(statement.sql), soci::into(one), soci::use(name, "rowlock_name"),
      soci::use(id, "rowlock_hold");
  bool proved = sql.got_data();
  if (proved && !statement.write.empty()) {
    soci::statement write = (sql.prepare << detail::soci_guard_text(statement.write),
                             soci::use(name, "rowlock_name"), soci::use(id, "rowlock_hold"));
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
