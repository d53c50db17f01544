// A guarded write through libpqxx: the transaction commits only while the lock is held.
//
//   pqxx::work tx{connection};
//   rowlock::guard(tx, hold);          // first, before the reads and writes that it protects
//   tx.exec("UPDATE account …");
//   tx.commit();
//
// Until the transaction ends nobody else can be granted the lock; waiters may go on to queue, and renewals
// are not held up. Works at every isolation level: under REPEATABLE READ and SERIALIZABLE a transaction whose
// snapshot is older than the hold is refused, with error(hold_lost) or the server's serialization failure
// (40001): begin it after the acquire. Keep such a transaction shorter than the lock's other users can wait:
// a hold that is released inside it becomes free when the transaction ends.
//
// Compiled by the caller, so the library itself names no database. libpqxx 6.4 and 7.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <pqxx/pqxx>

ROWLOCK_BEGIN_NAMESPACE

// Throws error(hold_lost) when the hold does not stand: roll the transaction back. Throws what libpqxx
// throws. tx: any transaction but pqxx::nontransaction, which would end the guard with the statement.
inline void guard(pqxx::transaction_base& tx, const hold& held) {
  const guard_statement statement = held.guard_statement();
  const auto proof = tx.exec_params(statement.sql, statement.parameters[0], statement.parameters[1]);
  if (proof.empty()) {
    throw error(errc::hold_lost, "\"" + held.name() +
                                     "\" is not held any more, or this transaction's snapshot is older "
                                     "than the hold; roll back");
  }
}

ROWLOCK_END_NAMESPACE
