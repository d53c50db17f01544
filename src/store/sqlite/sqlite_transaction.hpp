// A transaction that is rolled back unless it is committed.
#pragma once

#include "store/sqlite/sqlite_connection.hpp"

#include <mutex>

namespace rowlock::store {

class sqlite_transaction {
 public:
  // For reading: one snapshot, no lock.
  explicit sqlite_transaction(sqlite_connection& connection);
  // For writing: takes the write lock first, so that everything, including the clock, is read under the lock.
  // Throws error(contention) if the lock was not free within the connection's timeout.
  sqlite_transaction(sqlite_connection& connection, durability how);
  // For a transaction that the connection has begun.
  sqlite_transaction(sqlite_connection& connection, std::adopt_lock_t) : connection_{connection} {}
  ~sqlite_transaction();
  sqlite_transaction(const sqlite_transaction&) = delete;
  sqlite_transaction& operator=(const sqlite_transaction&) = delete;

  void commit();

 private:
  sqlite_connection& connection_;
};

}  // namespace rowlock::store
