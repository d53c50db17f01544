// The slow path: lock, read, decide and write, in two round trips, or three if it reads a hold's data.
#pragma once

#include "store/decode.hpp"
#include "store/postgres/postgres_connection.hpp"
#include "store/store.hpp"

#include <span>
#include <string>
#include <vector>

namespace rowlock::store {

class postgres_edit {
 public:
  postgres_edit(postgres_connection& connection, std::span<const edit_request> requests)
      : connection_{connection}, requests_{requests}, found_{requests} {}

  std::vector<edit_result> run(const joint_decision& decide);

 private:
  std::string reading_script();
  void read(const std::string& script);
  bool write(std::span<const lock_change> changes);

  postgres_connection& connection_;
  std::span<const edit_request> requests_;
  edit_reader found_;
};

}  // namespace rowlock::store
