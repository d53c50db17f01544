#ifdef ROWLOCK_TEST_MYSQL

// Settings of a server that break a promise, or that only seem to break one.
#include "own_server.hpp"
#include "store/backends.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class mysql_server_settings_test : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() { servers_.clear(); }
  // A server with a binary log, for settings that can change while it runs.
  static own_server& running() {
    return servers_.get(GetParam(), {"--log-bin=log", "--binlog-format=MIXED"});
  }
  static std::unique_ptr<store::session> connect(const own_server& server) {
    return store::open_mysql(server.url(), {})->connect();
  }
  // The error of an attempt to connect.
  static std::string refusal(const own_server& server) {
    try {
      connect(server);
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), errc::database);
      return refused.what();
    }
    return "accepted";
  }

  static own_servers servers_;
};

own_servers mysql_server_settings_test::servers_;

TEST_P(mysql_server_settings_test, warn_of_a_binary_log_that_a_power_loss_shortens) {
  migrator{running().url()}.up();
  mysql_connection side{running().url()};
  side.run("SET GLOBAL sync_binlog = 0");
  EXPECT_THAT(connect(running())->warning(), HasSubstr("sync_binlog is 0 and log_bin is ON"));
  side.run("SET GLOBAL sync_binlog = 1");
  EXPECT_EQ(connect(running())->warning(), "");
}

TEST_P(mysql_server_settings_test, are_refused_where_the_log_has_statements_alone) {
  mysql_connection side{running().url()};
  side.run("SET GLOBAL binlog_format = STATEMENT");
  try {
    migrator{running().url()}.up();
    connect(running());
    ADD_FAILURE() << "accepted";
  } catch (const error& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("binlog_format is STATEMENT"));
  }
  side.run("SET GLOBAL binlog_format = MIXED");
}

// A statement that waited would read the time at which it began.
TEST_P(mysql_server_settings_test, are_refused_where_sysdate_is_now) {
  const auto server = make_own_mysql(GetParam(), {"--sysdate-is-now"});
  EXPECT_THAT(refusal(*server), HasSubstr("runs with sysdate-is-now"));
}

// For MariaDB alone: MySQL has no option that changes the version it reports.
class mariadb_version_test : public mysql_server_settings_test {};

TEST_P(mariadb_version_test, that_is_too_old_is_refused) {
  const auto server = make_own_mysql(GetParam(), {"--version=10.5.29-MariaDB"});
  EXPECT_THAT(refusal(*server),
              HasSubstr("MariaDB 10.5.29-MariaDB is too old for rowlock, which needs 10.6"));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(mariadb_version_test);
INSTANTIATE_TEST_SUITE_P(stores, mariadb_version_test, testing::ValuesIn(selected_of({"mariadb"})),
                         store_test_name);

TEST_P(mysql_server_settings_test, may_leave_memory_out_and_a_restart_changes_the_marker_still) {
  const auto server = make_own_mysql(GetParam(), {GetParam() == "mysql" ? "--disabled-storage-engines=MEMORY"
                                                                        : "--enforce-storage-engine=InnoDB"});
  migrator{server->url()}.up();
  const auto before = connect(*server)->record_database_state();
  EXPECT_NE(before.marker, "");
  EXPECT_EQ(connect(*server)->read_database_state(), before);
  // The time of a start is known to the second.
  mysql_connection watch{server->url()};
  while (std::stoi(watch.run("SHOW STATUS LIKE 'Uptime'").at(0).at(1)) < 2) std::this_thread::yield();
  server->crash();
  server->start();
  const auto after = connect(*server)->record_database_state();
  EXPECT_NE(after.marker, before.marker);
  EXPECT_EQ(after.epoch, before.epoch);
}

// The user of this test may write although the server is read-only.
TEST_P(mysql_server_settings_test, that_forbid_writing_stop_a_client_that_is_connected) {
  const auto& server = running();
  migrator{server.url()}.up();
  options settings;
  settings.ttl = 3s;
  const client db = rowlock::connect(server.url(), settings);
  const hold held = mutex(db, "held").acquire();
  const auto granting = connect(server);
  granting->record_database_state();
  store::lease_record lease;
  lease.id = lease.client = model::lease_id::random();
  lease.ttl = 30s;
  granting->create_lease(lease);
  const auto grants = [&](const std::string& name) {
    const model::lock_definition definition{.name = name};
    granting->create({&definition, 1});
    const store::acquire_item wanted{.name = name, .lease = lease.id, .hold = model::hold_id::random()};
    return granting->acquire({&wanted, 1}).size() == 1;
  };
  ASSERT_TRUE(grants("before"));

  mysql_connection side{server.url()};
  side.run("SET GLOBAL read_only = ON");
  EXPECT_FALSE(grants("fenced"));
  const model::lease_id ids[] = {lease.id};
  EXPECT_TRUE(granting->kill(ids, -1h).empty());
  try {
    granting->renew(ids);
    ADD_FAILURE() << "renewed";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("read_only was switched on"));
  }
  while (held.valid()) std::this_thread::yield();
  try {
    std::ignore = mutex(db, "other").try_acquire();
    ADD_FAILURE() << "acquired";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
  }
  side.run("SET GLOBAL read_only = OFF");
  EXPECT_TRUE(grants("after"));
  EXPECT_TRUE(mutex(db, "other").try_acquire_for(30s));
}

TEST_P(mysql_server_settings_test, that_forbid_writing_leave_reading) {
  const auto& server = running();
  migrator{server.url()}.up();
  mutex(rowlock::connect(server.url()), "a").acquire().release();
  mysql_connection side{server.url()};
  side.run("SET GLOBAL read_only = ON");
  options settings;
  settings.read_only = true;
  const client db = rowlock::connect(server.url(), settings);
  EXPECT_FALSE(admin{db}.list().empty());
  EXPECT_TRUE(admin{db}.show("a"));
  EXPECT_THAT(migrator(server.url(), settings).verify(), testing::IsEmpty());
  for (const bool reads : {true, false}) {
    try {
      std::ignore = mutex(reads ? db : rowlock::connect(server.url()), "b").try_acquire();
      FAIL() << "acquired";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
    }
  }
  side.run("SET GLOBAL read_only = OFF");
}

TEST_P(mysql_server_settings_test, may_have_a_database_of_several_bytes_a_letter) {
  const auto server =
      make_own_mysql(GetParam(), {"--character-set-server=utf16", "--collation-server=utf16_general_ci"});
  mysql_connection side{server->url()};
  for (const std::string database : {"rowlock_test", "utf32", "ucs2", "utf16le"}) {
    if (database != "rowlock_test") side.run("CREATE DATABASE " + database + " CHARACTER SET " + database);
    auto url = server->url();
    url.replace(url.rfind('/') + 1, std::string::npos, database);
    migrator{url}.up();
    const client db = rowlock::connect(url);
    const hold held = mutex(db, "na\u00EFve").acquire();
    EXPECT_FALSE(mutex(db, "na\u00EFve").try_acquire()) << database;
  }
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_server_settings_test);

}  // namespace

}  // namespace rowlock::test

#endif
