#ifdef ROWLOCK_TEST_MYSQL

// What the doctor finds on real servers of MariaDB and MySQL.
#include "doctor/doctor_test.hpp"
#include "own_server.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <thread>

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;
using codes = std::vector<std::string>;

class mysql_doctor_test : public testing::TestWithParam<std::string> {
 protected:
  static codes found(const std::string& url) { return codes_of(diagnose(url)); }
  static std::string as(const std::string& user, const std::string& url) {
    return "mysql://" + user + ":right" + url.substr(url.find('@'));
  }
  static std::string port_of(const std::string& url) {
    const auto colon = url.rfind(':');
    return url.substr(colon + 1, url.find('/', colon) - colon - 1);
  }
  // Returns when the primary, to which `on_primary` is connected, sees the replica.
  static std::unique_ptr<own_server> make_replica_of(const std::string& primary,
                                                     mysql_connection& on_primary) {
    auto replica = make_own_mysql(GetParam(), {"--server-id=2"});
    mysql_connection follower{replica->url()};
    if (GetParam() == "mysql") {
      follower.run(
          "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = " + port_of(primary) +
          ", SOURCE_USER = 'rowlock', SOURCE_PASSWORD = 'rowlock', GET_SOURCE_PUBLIC_KEY = 1");
      follower.run("START REPLICA");
      while (on_primary.run("SHOW REPLICAS").empty()) std::this_thread::yield();
      return replica;
    }
    follower.run("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = " + port_of(primary) +
                 ", MASTER_USER = 'rowlock', MASTER_PASSWORD = 'rowlock'");
    follower.run("START SLAVE");
    while (on_primary.run("SHOW GLOBAL STATUS LIKE 'Slaves_connected'").at(0).at(1) == "0")
      std::this_thread::yield();
    return replica;
  }
};

TEST_P(mysql_doctor_test, names_each_setting_that_breaks_a_promise) {
  const auto server = make_own_mysql(
      GetParam(), {"--log-bin=log", "--binlog-format=STATEMENT", "--sync-binlog=0", "--sysdate-is-now",
                   "--innodb-flush-log-at-trx-commit=2", "--skip-innodb-doublewrite",
                   "--max-allowed-packet=1M", "--transaction-isolation=SERIALIZABLE"});
  const auto findings = diagnose(server->url());
  EXPECT_THAT(codes_of(findings),
              UnorderedElementsAre("error not-migrated", "error sysdate-is-now", "error statement-log",
                                   "error log-not-flushed", "error binlog-not-synced", "warning torn-pages",
                                   "warning small-packets", "warning ignores-read-only",
                                   "note isolation-level", "note strong-role"));
  const auto flush = std::ranges::find(findings, "log-not-flushed", &finding::code);
  ASSERT_NE(flush, findings.end());
  EXPECT_EQ(flush->found, "innodb_flush_log_at_trx_commit is 2");
}

TEST_P(mysql_doctor_test, judges_a_sound_server_its_rights_and_its_load) {
  // With a binary log, a user who may not see the replicas would get a finding about them.
  const auto server = make_own_mysql(GetParam(), {"--skip-log-bin"});
  migrator{server->url()}.up();
  EXPECT_THAT(found(server->url()), ElementsAre("warning ignores-read-only", "note strong-role"));
  mysql_connection side{server->url()};

  side.run("CREATE USER seer@'%' IDENTIFIED BY 'right'");
  side.run("CREATE USER app@'%' IDENTIFIED BY 'right'");
  for (const std::string table : {"lease", "lock", "permit", "queue", "marker", "meta"}) {
    side.run("GRANT SELECT ON rowlock_test.rowlock_" + table + " TO seer@'%'");
    side.run("GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_test.rowlock_" + table + " TO app@'%'");
  }
  EXPECT_THAT(found(as("seer", server->url())), Contains("warning history-rights"));
  const auto finding_of_app = [&] {
    const auto findings = diagnose(as("app", server->url()));
    const auto rights = std::ranges::find(findings, "history-rights", &finding::code);
    return rights == findings.end() ? std::string{} : rights->found;
  };
  EXPECT_THAT(finding_of_app(), HasSubstr("rowlock_history, rowlock_recording"));
  for (const std::string user : {"seer", "app"}) {
    side.run("GRANT SELECT ON rowlock_test.rowlock_recording TO " + user + "@'%'");
    side.run("GRANT SELECT ON rowlock_test.rowlock_history TO " + user + "@'%'");
  }
  EXPECT_THAT(finding_of_app(), testing::EndsWith(": rowlock_history")) << "it cannot write what it does";
  side.run("GRANT INSERT ON rowlock_test.rowlock_history TO app@'%'");
  EXPECT_THAT(finding_of_app(), testing::EndsWith(": rowlock_history")) << "it cannot prune it";
  side.run("GRANT DELETE ON rowlock_test.rowlock_history TO app@'%'");
  EXPECT_THAT(found(as("seer", server->url())), ElementsAre("unknown old-transaction", "note looks-only"));
  EXPECT_THAT(found(as("app", server->url())), ElementsAre("unknown old-transaction"));
  side.run("GRANT PROCESS ON *.* TO app@'%'");
  EXPECT_THAT(found(as("app", server->url())), testing::IsEmpty());
  const std::string right = GetParam() == "mysql" ? "CONNECTION_ADMIN" : "READ_ONLY ADMIN";
  side.run("GRANT " + right + " ON *.* TO app@'%'");
  EXPECT_THAT(found(as("app", server->url())), ElementsAre("warning ignores-read-only"));
  side.run("REVOKE " + right + " ON *.* FROM app@'%'");

  mysql_connection reader{server->url()};
  reader.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  reader.run("SELECT * FROM rowlock_meta");
  auto seen = store::read_facts(server->url(), reading());
  // The server refreshes this view once nobody has read it for a tenth of a second.
  while (seen["oldest_snapshot_id"].empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    seen = store::read_facts(server->url(), reading());
  }
  EXPECT_EQ(seen["oldest_snapshot_id"], reader.id());
  EXPECT_LT(std::abs(seen.number("oldest_snapshot_s")), 60) << "it compares times of two zones";
  EXPECT_LE(std::abs(seen.number("clock_offset_ms")), seen.number("clock_uncertainty_ms") + 1);

  side.run(
      "INSERT INTO rowlock_lease (id, client_id, pid, ttl_ms, expires_at, created_at, host, application) "
      "VALUES (UNHEX(REPEAT('1', 32)), UNHEX(REPEAT('1', 32)), 1, 30000, "
      "        UTC_TIMESTAMP() - INTERVAL 6 MINUTE, UTC_TIMESTAMP(), '', '')");
  side.run(
      "INSERT INTO rowlock_lock (name, kind, capacity, used_at) "
      "WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000) "
      "SELECT n, 'mutex', 1, UTC_TIMESTAMP() - INTERVAL 31 DAY FROM numbers");
  EXPECT_THAT(found(as("app", server->url())), ElementsAre("warning dead-holders", "note idle-names"));

  side.run("SET GLOBAL max_connections = 10");
  std::vector<std::unique_ptr<mysql_connection>> others;
  while (others.size() < 6) others.push_back(std::make_unique<mysql_connection>(server->url()));
  EXPECT_THAT(found(server->url()), Contains("warning connections-full"));
  others.clear();

  side.run("SET GLOBAL read_only = ON");
  EXPECT_THAT(found(server->url()), Contains("error replica"));
  // This user may write all the same, but not on a server that refuses everybody.
  if (GetParam() == "mysql") {
    side.run("SET GLOBAL super_read_only = ON");
    EXPECT_THAT(found(server->url()), Contains("error replica"));
    side.run("SET GLOBAL super_read_only = OFF");
  }
  side.run("SET GLOBAL read_only = OFF");
  side.run("UPDATE rowlock_meta SET min_library = 99");
  EXPECT_THAT(found(server->url()), Contains("error too-new"));
}

TEST_P(mysql_doctor_test, names_the_triggers_of_our_tables_and_no_others) {
  const auto server = make_own_mysql(GetParam());
  migrator{server->url()}.up();
  mysql_connection side{server->url()};
  side.run("CREATE TABLE audit (name VARBINARY(512) NOT NULL PRIMARY KEY) ENGINE = InnoDB");
  side.run("CREATE TRIGGER of_others AFTER INSERT ON audit FOR EACH ROW SET @seen = 1");
  EXPECT_THAT(found(server->url()), Not(Contains("note triggers")));
  side.run("CREATE TRIGGER audit_b AFTER UPDATE ON rowlock_lock FOR EACH ROW SET @seen = 1");
  side.run("CREATE TRIGGER audit_a AFTER DELETE ON rowlock_permit FOR EACH ROW SET @seen = 1");
  const auto findings = diagnose(server->url());
  const auto triggers = std::ranges::find(findings, "triggers", &finding::code);
  ASSERT_NE(triggers, findings.end());
  EXPECT_EQ(triggers->found, "rowlock's tables have triggers: audit_a, audit_b");
}

// MySQL's replicas have other settings. The tests in tests/failover run the doctor on them.
class mariadb_doctor_test : public mysql_doctor_test {};

TEST_P(mariadb_doctor_test, sees_what_a_promotion_would_lose) {
  const auto primary = make_own_mysql(
      GetParam(), {"--log-bin=log", "--binlog-format=ROW", "--sync-binlog=1", "--server-id=1"});
  migrator{primary->url()}.up();
  EXPECT_THAT(found(primary->url()), ElementsAre("warning ignores-read-only", "note strong-role"));
  mysql_connection watch{primary->url()};
  const auto replica = make_replica_of(primary->url(), watch);
  EXPECT_THAT(found(primary->url()), Contains("warning lossy-failover"));
  watch.run("SET GLOBAL rpl_semi_sync_master_enabled = ON");
  EXPECT_THAT(found(primary->url()), Not(Contains("warning lossy-failover")));
}

TEST_P(mariadb_doctor_test, sees_a_marker_that_stops_a_restarted_replica) {
  const auto primary = make_own_mysql(
      GetParam(),
      {"--log-bin=log", "--log-slave-updates", "--binlog-format=ROW", "--sync-binlog=1", "--server-id=1"});
  migrator{primary->url()}.up();
  mysql_connection side{primary->url()};
  side.run("SET GLOBAL gtid_strict_mode = ON");
  EXPECT_THAT(found(primary->url()), ElementsAre("warning ignores-read-only", "note strong-role"))
      << "nobody follows it";

  // Now this server counts as one that has followed another, as a replica or a promoted replica has.
  side.run("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos");
  const auto findings = diagnose(primary->url());
  EXPECT_THAT(codes_of(findings),
              ElementsAre("warning marker-in-memory", "warning ignores-read-only", "note strong-role"));
  EXPECT_THAT(findings.at(0).remedy, HasSubstr("ALTER TABLE rowlock_marker ENGINE = InnoDB"));
  side.run("SET GLOBAL gtid_strict_mode = OFF");
  EXPECT_THAT(found(primary->url()), ElementsAre("warning ignores-read-only", "note strong-role"));
  side.run("SET GLOBAL gtid_slave_pos = ''");
  side.run("SET GLOBAL gtid_strict_mode = ON");
  EXPECT_THAT(found(primary->url()), ElementsAre("warning ignores-read-only", "note strong-role"));

  const auto replica = make_replica_of(primary->url(), side);
  EXPECT_THAT(found(primary->url()), Contains("warning marker-in-memory"));
  side.run("ALTER TABLE rowlock_marker ENGINE = InnoDB");
  EXPECT_THAT(found(primary->url()), Not(Contains("warning marker-in-memory")));
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_doctor_test);
INSTANTIATE_TEST_SUITE_P(stores, mariadb_doctor_test, testing::ValuesIn(selected_of({"mariadb"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(mariadb_doctor_test);

}  // namespace
}  // namespace rowlock::test

#endif
