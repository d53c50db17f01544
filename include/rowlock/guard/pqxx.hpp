// A guarded write through libpqxx 6.4, 7 or 8: the transaction commits only while the lock is held.
//
//   pqxx::work tx{connection};
//   rowlock::guard(tx, hold);          // first, before the reads and writes that it protects
//   tx.exec("UPDATE account …");
//   tx.commit();
//
// Nobody else can be granted the lock until the transaction ends; if the hold is shared, nobody exclusively. Others can
// still join the queue, and renewals are not delayed. A lock whose hold is released meanwhile becomes free when the
// transaction ends, so keep the transaction shorter than the lock's other users can wait.
//
// The guard works at every isolation level. Under REPEATABLE READ and SERIALIZABLE begin the transaction after the
// acquire: an older snapshot is refused, with error(hold_lost) or the server's serialization failure (40001).
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/hold.hpp>

#include <pqxx/pqxx>

ROWLOCK_BEGIN_NAMESPACE

// Throws error(hold_lost) if the hold is not valid: roll the transaction back. Throws also what hold::guard_statement()
// and libpqxx throw; the transaction then proves nothing.
//
// Guard the whole transaction, before any savepoint: rolling back a pqxx::subtransaction or a savepoint ends the guard,
// and later writes are not protected. In a pqxx::nontransaction the guard would end with its statement. Both are
// refused: by the compiler, and through a reference to their base class with error(invalid_argument). Requires: no
// savepoint was opened by SQL; this cannot be checked.
inline void guard(pqxx::transaction_base& tx, const hold& held) {
  if (dynamic_cast<pqxx::subtransaction*>(&tx) != nullptr ||
      dynamic_cast<pqxx::nontransaction*>(&tx) != nullptr) {
    throw error(errc::invalid_argument,
                "a guard needs a transaction of its own: in a subtransaction or nontransaction it would end "
                "before the writes that it protects");
  }
  const guard_statement statement = held.guard_statement();
  // The server would read a parameter in client_encoding, whatever that is.
  const auto proof = tx.exec(detail::with_literals(statement.sql, statement.parameters));
  if (proof.empty()) detail::throw_guard_lost(held);
}
void guard(pqxx::subtransaction& tx, const hold& held) = delete;
void guard(pqxx::nontransaction& tx, const hold& held) = delete;

ROWLOCK_END_NAMESPACE
