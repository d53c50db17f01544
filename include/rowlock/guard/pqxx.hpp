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
// throws; then the transaction proves nothing.
//
// Guard the whole transaction, before any savepoint in it: a pqxx::subtransaction, or a savepoint of one's
// own SQL, gives the guard back when it is rolled back, and what is written after that is not protected. A
// pqxx::nontransaction ends the guard with the statement. Both are refused: by the compiler, and behind a
// reference to their base with error(invalid_argument). Requires: no savepoint is open, for it cannot be
// seen.
inline void guard(pqxx::transaction_base& tx, const hold& held) {
  if (dynamic_cast<pqxx::subtransaction*>(&tx) != nullptr ||
      dynamic_cast<pqxx::nontransaction*>(&tx) != nullptr) {
    throw error(errc::invalid_argument,
                "a guard needs a transaction of its own: in a subtransaction or nontransaction it would end "
                "before the writes that it protects");
  }
  const guard_statement statement = held.guard_statement();
  const auto proof = tx.exec_params(statement.sql, statement.parameters[0], statement.parameters[1]);
  if (proof.empty()) {
    throw error(errc::hold_lost, "\"" + held.name() +
                                     "\" is not held any more, or this transaction's snapshot is older "
                                     "than the hold; roll back");
  }
}
void guard(pqxx::subtransaction& tx, const hold& held) = delete;
void guard(pqxx::nontransaction& tx, const hold& held) = delete;

ROWLOCK_END_NAMESPACE
