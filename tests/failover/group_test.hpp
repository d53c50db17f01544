// Three MySQL servers of a replication group (scripts/with-group-replication).
#pragma once

#include "failover_test.hpp"

#include "support/mysql_connection.hpp"

#include <string>
#include <vector>

namespace rowlock::test {

class group_test : public failover_test {
 protected:
  group_test() { ttl_ = 15s; }
  // A new group unless the one of the test before is whole, with a database of its own whose marker the group accepts.
  void SetUp() override;

  static void change(const std::string& action) { control(script("CONTROL") + ' ' + action); }
  // The prompt answer of a member to a statement of root's.
  static std::string ask(int member, const std::string& sql);
  // The URL of one member, numbered from 1, or of several, in this order.
  std::string at(std::initializer_list<int> members) const;
  worker start_at(int member) const;
  std::int64_t number_at(int member, const std::string& sql) const {
    return sql_session::open(at({member}))->number(sql);
  }
  // A row, at every member.
  void until_everywhere(const std::string& counting_one) const;

 private:
  static std::string script(const std::string& what) {
    return exported(("ROWLOCK_TEST_GROUP_" + what).c_str(), "scripts/with-group-replication");
  }
  static bool is_whole();
};

}  // namespace rowlock::test
