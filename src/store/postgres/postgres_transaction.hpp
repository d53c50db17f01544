// A transaction that scripts begin and commit. It is rolled back if something was thrown before it ended.
#pragma once

#include "store/postgres/postgres_connection.hpp"

namespace rowlock::store {

class postgres_transaction {
 public:
  // Sends nothing. To be made before the script that begins the transaction.
  explicit postgres_transaction(postgres_connection& connection) : connection_{connection} {}
  ~postgres_transaction() {
    if (!is_over_) connection_.rollback();
  }
  postgres_transaction(const postgres_transaction&) = delete;
  postgres_transaction& operator=(const postgres_transaction&) = delete;

  // The script that commits it has succeeded.
  void is_over() noexcept { is_over_ = true; }

 private:
  postgres_connection& connection_;
  bool is_over_ = false;
};

}  // namespace rowlock::store
