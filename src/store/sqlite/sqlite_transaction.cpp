#include "store/sqlite/sqlite_transaction.hpp"

namespace rowlock::store {

sqlite_transaction::sqlite_transaction(sqlite_connection& connection) : connection_{connection} {
  connection_.execute("BEGIN");
}

sqlite_transaction::sqlite_transaction(sqlite_connection& connection, durability how)
    : connection_{connection} {
  connection_.set_durability(how);
  connection_.execute("BEGIN IMMEDIATE");
}

sqlite_transaction::~sqlite_transaction() {
  // After some errors SQLite has already rolled back.
  if (sqlite3_get_autocommit(connection_.handle()) == 0) {
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void sqlite_transaction::commit() {
  connection_.throw_if_interrupted();
  const int code = sqlite3_exec(connection_.handle(), "COMMIT", nullptr, nullptr, nullptr);
  // If a COMMIT fails, its frames may be in the log on disk, though nobody sees them until the log is read
  // after a crash.
  if (code != SQLITE_OK) connection_.fail(code, (code & 0xFF) != SQLITE_BUSY);
}

}  // namespace rowlock::store
