// A guarded write through libpq; rowlock/guard/pqxx.hpp says what it promises. Call it inside a transaction block:
// after BEGIN, before the reads and writes that it protects, and before any SAVEPOINT. Rolling back to a savepoint that
// is older than the guard ends the guard, and later writes are not protected.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <libpq-fe.h>

#include <memory>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

// Requires: no savepoint is open; this cannot be checked. Throws error(hold_lost) if the hold is not valid: roll the
// transaction back. Throws error(invalid_argument) outside a transaction block and in one that has failed, and
// error(database) with the server's SQLSTATE, where 40001 means: retry the transaction. Also throws what
// hold::guard_statement() throws.
inline void guard(PGconn* connection, const hold& held) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) {
    throw error(errc::invalid_argument,
                "a guard needs an open transaction block without an error: BEGIN before it");
  }
  const guard_statement statement = held.guard_statement();
  // The server would read a parameter in client_encoding, whatever that is.
  const std::string sql = detail::with_literals(statement.sql, statement.parameters);
  const std::unique_ptr<PGresult, decltype(&PQclear)> proof{
      PQexecParams(connection, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0), &PQclear};
  if (PQresultStatus(proof.get()) != PGRES_TUPLES_OK) {
    const char* state = PQresultErrorField(proof.get(), PG_DIAG_SQLSTATE);
    throw error(errc::database, std::string{"the guard failed: "} + PQerrorMessage(connection),
                state ? state : "");
  }
  if (PQntuples(proof.get()) == 0) detail::throw_guard_lost(held);
}

ROWLOCK_END_NAMESPACE
