// A transaction of several statements, rolled back unless it is committed.
#pragma once

#include "store/mysql/mysql_connection.hpp"

#include <string_view>

namespace rowlock::store {

class mysql_transaction {
 public:
  // first: what is sent with its beginning, in one round trip where the server allows it.
  explicit mysql_transaction(mysql_connection& connection, std::string_view doing,
                             std::span<const mysql_statement> first = {});
  ~mysql_transaction();
  mysql_transaction(const mysql_transaction&) = delete;
  mysql_transaction& operator=(const mysql_transaction&) = delete;

  // last: what is sent with its end.
  void commit(std::span<const mysql_statement> last = {},
              mysql_connection::waiting how = mysql_connection::waiting::as_set);

 private:
  void unbound() noexcept;

  mysql_connection& connection_;
  std::string_view doing_;
  bool open_ = false;
  bool bounded_ = false;  // MySQL: a client that stands still now is disconnected
};

}  // namespace rowlock::store
