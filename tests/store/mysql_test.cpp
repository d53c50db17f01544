#ifdef ROWLOCK_TEST_MYSQL

#include "store/mysql_test.hpp"

#include "support/background.hpp"
#include "support/mysql_waiters.hpp"
#include "support/stores.hpp"

#include <algorithm>
#include <thread>

namespace rowlock::test {

void mysql_test::SetUp() {
  fixture_ = make_store_fixture(GetParam());
  database_ = fixture_->open();
  side_ = raw();
  side_->run("SET time_zone = '+00:00'");
}

std::unique_ptr<store::session> mysql_test::ready() {
  auto session = connect();
  session->record_database_state();
  return session;
}

std::string mysql_test::put(std::string sql) const {
  const auto& prefix = fixture_->options().prefix;
  for (auto at = sql.find('@'); at != std::string::npos; at = sql.find('@', at + prefix.size())) {
    sql.replace(at, 1, prefix);
  }
  return sql;
}

bool mysql_test::snapshot_isolation(mysql_connection& of, bool on) {
  const bool has = !of.run("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").empty();
  EXPECT_EQ(has, of.value("SELECT VERSION()").find("MariaDB") != std::string::npos)
      << "or too old for the tests";
  if (!has) return false;
  of.run(std::string{"SET SESSION innodb_snapshot_isolation = "} + (on ? "ON" : "OFF"));
  return true;
}

std::future<mysql_connection::rows> mysql_test::run_until_blocked(mysql_connection& connection,
                                                                  const std::string& sql) {
  const auto id = connection.id();
  auto answer = in_background([&connection, text = put(sql)] { return connection.run(text); });
  until_blocked(id);
  return answer;
}

std::string mysql_test::connection_of(const store::session& session) {
  const auto backend = session.backend();
  return backend.substr(0, backend.find(' '));
}

bool mysql_test::is_blocked(const std::string& connection_id) {
  if (GetParam() == "mysql") {
    const auto waiting = side_->run(waiting_in_mysql);
    return std::ranges::count(waiting, std::vector{connection_id}) > 0;
  }
  return side_->value("SELECT trx_state FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = ?",
                      {connection_id}) == "LOCK WAIT";
}

void mysql_test::until_blocked(const std::string& connection_id) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!is_blocked(connection_id)) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it does not wait for a row");
    // MariaDB refreshes the report only if nobody has read it for a tenth of a second.
    std::this_thread::sleep_for(120ms);
  }
}

}  // namespace rowlock::test

#endif
