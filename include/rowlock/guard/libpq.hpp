// A guarded write through libpq; see rowlock/guard/pqxx.hpp for what it promises. Call it inside a
// transaction block, after BEGIN and before the reads and writes that it protects, and before any SAVEPOINT:
// one that is rolled back gives the guard back, and what is written after that is not protected.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <libpq-fe.h>

#include <memory>

ROWLOCK_BEGIN_NAMESPACE

// Requires: no savepoint is open, for it cannot be seen. Throws error(hold_lost) when the hold does not
// stand: roll the transaction back. Throws error(invalid_argument) outside of a transaction block,
// error(database) with the SQLSTATE for what the server says; 40001 means: begin anew.
inline void guard(PGconn* connection, const hold& held) {
  if (PQtransactionStatus(connection) != PQTRANS_INTRANS) {
    throw error(errc::invalid_argument,
                "a guard needs an open transaction block without an error: BEGIN before it");
  }
  const guard_statement statement = held.guard_statement();
  const char* parameters[] = {statement.parameters[0].c_str(), statement.parameters[1].c_str()};
  const std::unique_ptr<PGresult, decltype(&PQclear)> proof{
      PQexecParams(connection, statement.sql.c_str(), 2, nullptr, parameters, nullptr, nullptr, 0), &PQclear};
  if (PQresultStatus(proof.get()) != PGRES_TUPLES_OK) {
    const char* state = PQresultErrorField(proof.get(), PG_DIAG_SQLSTATE);
    throw error(errc::database, std::string{"the guard failed: "} + PQerrorMessage(connection),
                state ? state : "");
  }
  if (PQntuples(proof.get()) == 0) {
    throw error(errc::hold_lost, "\"" + held.name() +
                                     "\" is not held any more, or this transaction's snapshot is older "
                                     "than the hold; roll back");
  }
}

ROWLOCK_END_NAMESPACE
