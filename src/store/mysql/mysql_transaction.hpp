// A transaction of several statements, rolled back unless it is committed.
#pragma once

#include "store/mysql/mysql_connection.hpp"

#include <string_view>

namespace rowlock::store {

class mysql_transaction {
 public:
  // first: statements that are sent together with START TRANSACTION, in one round trip if the server allows that.
  explicit mysql_transaction(mysql_connection& connection, std::string_view doing,
                             std::span<const mysql_statement> first = {});
  ~mysql_transaction();
  mysql_transaction(const mysql_transaction&) = delete;
  mysql_transaction& operator=(const mysql_transaction&) = delete;

  // last: statements that are sent together with COMMIT.
  void commit(std::span<const mysql_statement> last = {},
              mysql_connection::waiting how = mysql_connection::waiting::as_set);

 private:
  void lift_bound() noexcept;

  mysql_connection& connection_;
  std::string_view doing_;
  bool open_ = false;
  bool bounded_ = false;  // MySQL: the server disconnects a client that stands still now
};

}  // namespace rowlock::store
