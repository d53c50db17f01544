#ifdef ROWLOCK_TEST_MYSQL

// With a trigger on a table the server reports no insert id of a statement that writes the table, or that of the trigger.
#include "store/mysql_test.hpp"

#include <vector>

namespace rowlock::test {
namespace {

class mysql_trigger_test : public mysql_test {};

TEST_P(mysql_trigger_test, of_any_form_changes_no_token_that_is_returned) {
  const auto session = ready();
  const auto lease = new_lease(*session);
  run(*side_, "CREATE TABLE @audit (number BIGINT AUTO_INCREMENT PRIMARY KEY, name VARBINARY(512) UNIQUE)");
  run(*side_, "INSERT INTO @audit (number, name) VALUES (1000, 'before')");
  for (const std::string when : {"BEFORE", "AFTER"}) {
    for (const std::string what :
         {"SET @seen = NEW.name", "INSERT INTO @audit (name) VALUES (CONCAT(NEW.name, RAND()))",
          "REPLACE INTO @audit (name) VALUES (NEW.name)",
          "UPDATE @audit SET number = LAST_INSERT_ID(number + 1) ORDER BY number DESC LIMIT 1"}) {
      // A user's variable needs its own @.
      const auto body = what.starts_with("SET") ? what : put(what);
      side_->run(put("CREATE TRIGGER @watch ") + when + put(" UPDATE ON @lock FOR EACH ROW ") + body);
      const auto name = when + what.substr(0, 3);
      create(*session, name);
      const claim single{name, lease, hold_id::random()};
      const auto token = acquire(*session, single);
      EXPECT_EQ(std::to_string(token.value_or(-1)),
                side_->value(put("SELECT token FROM @lock WHERE name = ?"), {name}))
          << when << ' ' << what;
      EXPECT_TRUE(release(*session, single));
      run(*side_, "DROP TRIGGER @watch");
    }
  }
  run(*side_, "DROP TABLE @audit");
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_trigger_test);

}  // namespace
}  // namespace rowlock::test

#endif
