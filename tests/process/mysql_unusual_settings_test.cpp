#ifdef ROWLOCK_TEST_MYSQL

// Settings that break other software, all of them on one server, whose users have only the rights that rowlock prints.
#include "own_server.hpp"
#include "support/background.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/grants.hpp>
#include <rowlock/guard/mysql.hpp>
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

class mysql_unusual_settings_test : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() { servers_.clear(); }
  void SetUp() override {
    server_ = &servers_.get(GetParam(), is_mysql() ? of_mysql() : of_mariadb());
    mysql_connection side{server_->url()};
    if (side.run("SHOW TABLES").empty()) make_users(side);
  }

  static std::vector<std::string> of_both() {
    return {"--log-bin=log",
            "--binlog-format=MIXED",
            "--sync-binlog=1",
            "--lower-case-table-names=1",
            "--init-connect=SET autocommit=0",
            "--transaction-isolation=SERIALIZABLE",
            "--performance-schema=OFF"};
  }
  static std::vector<std::string> of_mysql() {
    auto all = of_both();
    all.insert(all.end(), {"--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--sql-require-primary-key=ON",
                           "--sql-generate-invisible-primary-key=ON", "--disabled-storage-engines=MEMORY",
                           "--partial-revokes=ON", "--collation-server=utf8mb4_0900_ai_ci"});
    return all;
  }
  static std::vector<std::string> of_mariadb() {
    auto all = of_both();
    all.insert(all.end(),
               {"--gtid-strict-mode=ON", "--innodb-force-primary-key=ON", "--enforce-storage-engine=InnoDB",
                "--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci"});
    return all;
  }
  static bool is_mysql() { return GetParam() == "mysql"; }

  // `owner` may migrate and `app` may run, through roles with the rights that rowlock prints.
  static void make_users(mysql_connection& side) {
    const auto grant = [&](const std::string& name, role_use use) {
      for (auto one : grant_statements("mysql", "may_" + name, use, "rowlock_test", "rowlock_")) {
        // With partial_revokes the name of a database is no pattern (docs/operations.md, "Rights").
        if (is_mysql()) std::erase(one, '\\');
        side.run(one);
      }
    };
    for (const std::string name : {"owner", "app"}) {
      side.run("CREATE ROLE may_" + name + "; CREATE USER " + name + " IDENTIFIED BY 'right'; GRANT may_" +
               name + " TO " + name + "; SET DEFAULT ROLE may_" + name + (is_mysql() ? " TO " : " FOR ") +
               name);
      // These users may read everything except the server's own tables.
      if (is_mysql()) side.run("GRANT SELECT ON *.* TO " + name + "; REVOKE SELECT ON mysql.* FROM " + name);
    }
    grant("owner", role_use::migrate);
    migrator{of("owner")}.up();
    grant("app", role_use::run);
  }
  static std::string of(const std::string& user) {
    const auto& url = servers_.get(GetParam()).url();
    return "mysql://" + user + ":right" + url.substr(url.find('@'));
  }

  static own_servers servers_;
  own_server* server_ = nullptr;
};

own_servers mysql_unusual_settings_test::servers_;

TEST_P(mysql_unusual_settings_test, are_in_force) {
  mysql_connection app{of("app")};
  EXPECT_EQ(app.value("SELECT @@SESSION.autocommit"), "0");
  EXPECT_EQ(app.value("SELECT @@GLOBAL.lower_case_table_names"), "1");
  EXPECT_EQ(app.value("SELECT @@GLOBAL.performance_schema"), "0");
  EXPECT_EQ(
      app.value(std::string{"SELECT @@GLOBAL."} + (is_mysql() ? "transaction_isolation" : "tx_isolation")),
      "SERIALIZABLE");
  EXPECT_EQ(app.value("SELECT @@GLOBAL.log_bin"), "1");
  EXPECT_EQ(app.value("SELECT @@GLOBAL.sync_binlog"), "1");
  EXPECT_EQ(app.value("SELECT @@GLOBAL.binlog_format"), "MIXED");
  EXPECT_THROW(app.run("SELECT 1 FROM mysql.user"), mysql_failure);
  if (is_mysql()) {
    EXPECT_EQ(app.value("SELECT @@GLOBAL.gtid_mode"), "ON");
    EXPECT_EQ(app.value("SELECT @@GLOBAL.partial_revokes"), "1");
    EXPECT_EQ(app.value("SELECT @@GLOBAL.sql_require_primary_key"), "1");
    EXPECT_EQ(app.value("SELECT @@GLOBAL.sql_generate_invisible_primary_key"), "1");
    EXPECT_EQ(app.value("SELECT @@GLOBAL.disabled_storage_engines"), "MEMORY");
  }
  mysql_connection owner{of("owner")};
  EXPECT_THROW(owner.run("CREATE TABLE without_key (a INT) ENGINE = MEMORY"), mysql_failure);
}

TEST_P(mysql_unusual_settings_test, leave_every_kind_of_lock_usable) {
  const client db = connect(of("app"));
  const client other = connect(of("app"));
  hold held = mutex(db, "a").acquire();
  auto next = in_background([&] { return mutex(other, "a").try_acquire_for(60s); });
  admin operate{db};
  while (operate.queue("a").empty() && next.wait_for(1ms) == std::future_status::timeout) {
  }
  mysql_connection application{of("app")};
  application.run("START TRANSACTION");
  EXPECT_NO_THROW(guard(application.handle(), held));
  application.run("COMMIT");
  EXPECT_EQ(held.release(), release_result::released);
  const auto handed = next.get();
  ASSERT_TRUE(handed);
  EXPECT_GT(handed.token(), held.token());
  const hold reads = shared_mutex(db, "b").acquire_shared();
  EXPECT_FALSE(shared_mutex(other, "b").try_acquire());
  EXPECT_TRUE(shared_mutex(other, "b").try_acquire_shared());
  const hold permit = counting_semaphore(db, "c", 2).acquire();
  EXPECT_TRUE(counting_semaphore(other, "c", 2).try_acquire());
  EXPECT_TRUE(operate.release("a"));
  EXPECT_GT(mutex(other, "a").acquire().token(), handed.token());
  operate.sweep();
  EXPECT_THAT(migrator{of("app")}.verify(), testing::IsEmpty());
}

TEST_P(mysql_unusual_settings_test, confuse_no_names_that_the_servers_collation_confuses) {
  const std::vector<std::string> names{"a",      "A",      "\u00E1", "\u00C1", "\u00E0", "\u00E4", "\u00E2",
                                       "\u00E3", "\u00E5", "\u0101", "\uFF41", "\u24D0", "\u00AA"};
  const client db = connect(of("app"));
  std::vector<hold> holds;
  for (const auto& name : names) {
    holds.push_back(mutex(db, "same/" + name).try_acquire());
    EXPECT_TRUE(holds.back()) << name;
  }
  const auto listed = admin{db}.list();
  EXPECT_EQ(std::ranges::count_if(listed, [](const lock_info& one) { return one.name.starts_with("same/"); }),
            std::ssize(names));
  mysql_connection side{server_->url()};
  side.run("SET NAMES utf8mb4");
  const std::string collation = is_mysql() ? "utf8mb4_0900_ai_ci" : "utf8mb4_unicode_ci";
  EXPECT_EQ(side.value("SELECT count(DISTINCT convert(name USING utf8mb4) COLLATE " + collation +
                       ") FROM rowlock_lock WHERE name LIKE 'same/%'"),
            "1")
      << "this collation distinguishes them";
  for (auto& one : holds) EXPECT_EQ(one.release(), release_result::released);
}

TEST_P(mysql_unusual_settings_test, keep_tokens_rising_through_a_crash) {
  const auto token_of_a_grant = [&] { return mutex(connect(of("app")), "crash").acquire().token(); };
  const auto before = token_of_a_grant();
  server_->crash();
  server_->start();
  EXPECT_GT(token_of_a_grant(), before);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_unusual_settings_test);

}  // namespace

}  // namespace rowlock::test

#endif
