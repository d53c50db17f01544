// A transaction of several round trips, rolled back unless it is committed.
#pragma once

#include "store/mysql/mysql_connection.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace rowlock::store {

class mysql_transaction {
 public:
  // Sends nothing: the transaction begins in the round trip of its first statements.
  mysql_transaction(mysql_connection& connection, std::string_view doing)
      : connection_{connection}, doing_{doing} {}
  ~mysql_transaction();
  mysql_transaction(const mysql_transaction&) = delete;
  mysql_transaction& operator=(const mysql_transaction&) = delete;

  // Sends the statements, and returns the rows of the last one that returns any.
  mysql_rows read(std::span<const mysql_statement> statements);
  mysql_rows read(const mysql_statement& statement) { return read({&statement, 1}); }
  // Sends the statement, and returns how many rows it matched.
  std::int64_t write(const mysql_statement& statement);

  // last: statements that are sent together with COMMIT.
  void commit(std::span<const mysql_statement> last = {},
              mysql_connection::waiting how = mysql_connection::waiting::as_set);

 private:
  std::string_view begin();  // the statement to send first; empty if that has been sent

  mysql_connection& connection_;
  std::string_view doing_;
  bool open_ = false;
};

}  // namespace rowlock::store
