// The slow path: lock, read, decide and write, in two round trips.
#pragma once

#include "store/postgres/postgres_connection.hpp"
#include "store/store.hpp"

#include <span>
#include <vector>

namespace rowlock::store {

class postgres_edit {
 public:
  postgres_edit(postgres_connection& connection, std::span<const edit_request> requests);
  // Ends what is still open.
  ~postgres_edit();
  postgres_edit(const postgres_edit&) = delete;
  postgres_edit& operator=(const postgres_edit&) = delete;

  std::vector<edit_result> run(const joint_decision& decide);

 private:
  void read();
  void read_lock(std::size_t at, const pqxx::row& row);
  void read_waiter(std::size_t at, const pqxx::row& row);
  void read_permit(std::size_t at, const pqxx::row& row);
  void write(std::span<const lock_change> changes);

  postgres_connection& connection_;
  std::span<const edit_request> requests_;
  std::vector<edit_result> results_;
  std::vector<lock_view> views_;
  bool open_ = false;
};

}  // namespace rowlock::store
