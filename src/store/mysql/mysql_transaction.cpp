#include "store/mysql/mysql_transaction.hpp"

#include <exception>

namespace rowlock::store {

mysql_transaction::mysql_transaction(mysql_connection& connection, std::string_view doing,
                                     std::span<const mysql_statement> first)
    : connection_{connection}, doing_{doing} {
  try {
    if (!connection_.takes_blocks()) {
      connection_.write("transaction_begins");
      bounded_ = true;
    }
    if (first.empty()) {
      connection_.execute(doing_, "START TRANSACTION");
    } else {
      connection_.write_all(doing_, "START TRANSACTION", first, "");
    }
  } catch (...) {
    connection_.rollback();
    lift_bound();
    throw;
  }
  open_ = true;
}

mysql_transaction::~mysql_transaction() {
  if (open_) connection_.rollback();
  lift_bound();
}

void mysql_transaction::lift_bound() noexcept {
  if (!bounded_) return;
  try {
    connection_.write("transaction_ended");
  } catch (const std::exception&) {
    // Then the server closes the connection after that much idle time, and a new one is made.
  }
}

void mysql_transaction::commit(std::span<const mysql_statement> last, mysql_connection::waiting how) {
  if (last.empty()) {
    connection_.execute(doing_, "COMMIT");
  } else {
    connection_.write_all(doing_, "", last, "COMMIT", how);
  }
  open_ = false;
}

}  // namespace rowlock::store
