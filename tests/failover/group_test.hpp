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
  // Makes a new group, unless that of the previous test is whole and its database has a marker that the group accepts.
  void SetUp() override;

  static void change(const std::string& action) { control(script("CONTROL") + ' ' + action); }
  // Kills the member once the group is whole: without a member that it had expelled, it would lose its majority now.
  static void kill(int member) {
    until(
        "the group is whole", [] { return is_whole(); }, 60s);
    change("kill " + std::to_string(member));
  }
  static int primary();
  // What a member answers at once to root's statement.
  static std::string ask(int member, const std::string& sql);
  // The states of the members as one of them sees them: "3307 ONLINE, 3308 UNREACHABLE".
  static std::string members_seen_by(int member) {
    return ask(
        member,
        "SELECT group_concat(concat(member_port, ' ', member_state) ORDER BY member_port SEPARATOR ', ') "
        "FROM performance_schema.replication_group_members");
  }
  // The URL of one member, numbered from 1, or of several, in this order.
  std::string at(std::initializer_list<int> members) const;
  worker start_at(int member) const;
  std::int64_t number_at(int member, const std::string& sql) const {
    return sql_session::open(at({member}))->number(sql);
  }
  // Waits until every member shows a row to that query.
  void until_everywhere(const std::string& counting_one) const;

 private:
  // What the control program prints.
  static std::string answer(const std::string& action);
  static std::string script(const std::string& what) {
    return exported(("ROWLOCK_TEST_GROUP_" + what).c_str(), "scripts/with-group-replication");
  }
  static bool is_whole();
};

}  // namespace rowlock::test
