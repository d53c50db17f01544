#include "store/mysql/mysql_transaction.hpp"

#include <exception>
#include <utility>

namespace rowlock::store {

mysql_transaction::~mysql_transaction() {
  if (!open_) return;
  connection_.rollback();
  if (connection_.is_mariadb()) return;
  try {
    connection_.write("lift_bound");
  } catch (const std::exception&) {
    // Then begin_bounded's limit stays: once the connection has been idle for that long, the server closes
    // it, and a new one is made.
  }
}

// Sets open_ before anything is sent, because whatever fails from the first round trip on may leave a
// transaction open.
std::string_view mysql_transaction::begin() {
  if (std::exchange(open_, true)) return {};
  return connection_.is_mariadb() ? "begin" : "begin_bounded";
}

mysql_rows mysql_transaction::read(std::span<const mysql_statement> statements) {
  return connection_.send(doing_, begin(), statements);
}

std::int64_t mysql_transaction::write(const mysql_statement& statement) {
  read(statement);
  return connection_.matched();
}

void mysql_transaction::commit(std::span<const mysql_statement> last, mysql_connection::waiting how) {
  connection_.send(doing_, begin(), last, connection_.is_mariadb() ? "commit" : "commit_bounded", how);
  open_ = false;
}

}  // namespace rowlock::store
