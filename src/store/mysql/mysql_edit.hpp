// The slow path: lock, read, decide and write.
#pragma once

#include "store/decode.hpp"
#include "store/mysql/mysql_connection.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/store.hpp"

#include <span>
#include <string>
#include <vector>

namespace rowlock::store {

// The values of the statement create_lease.
mysql_values lease_values(const lease_record& lease);

class mysql_edit {
 public:
  // identity: this server's, which the statements compare with the recorded one.
  mysql_edit(mysql_connection& connection, mysql_value identity, std::span<const edit_request> requests)
      : connection_{connection}, identity_{std::move(identity)}, requests_{requests}, found_{requests} {}

  std::vector<edit_result> run(const joint_decision& decide);

 private:
  void read(mysql_rows&& locks);
  void read_queue(std::size_t at);
  void read_guards();
  // Runs the statement, and notes which permits are guarded. asked: the statement's value. places: for each
  // entry of `asked`, the position of its request in requests_.
  void note_guards(const std::string& statement, const mysql_json& asked,
                   const std::vector<std::size_t>& places);

  mysql_connection& connection_;
  const mysql_value identity_;
  std::span<const edit_request> requests_;
  edit_reader found_;
};

}  // namespace rowlock::store
