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

// What create_lease takes.
mysql_values lease_values(const lease_record& lease);

class mysql_edit {
 public:
  // identity: of the recorded server.
  mysql_edit(mysql_connection& connection, mysql_value identity, std::span<const edit_request> requests)
      : connection_{connection}, identity_{std::move(identity)}, requests_{requests}, found_{requests} {}

  std::vector<edit_result> run(const joint_decision& decide);

 private:
  void read(mysql_rows&& locks);
  void read_queue(std::size_t at);
  void read_guards();
  // asked: of names or permits; places: of their requests.
  void note_guards(const std::string& statement, const mysql_json& asked,
                   const std::vector<std::size_t>& places);

  mysql_connection& connection_;
  const mysql_value identity_;
  std::span<const edit_request> requests_;
  edit_reader found_;
};

}  // namespace rowlock::store
