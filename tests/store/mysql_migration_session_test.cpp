#ifdef ROWLOCK_TEST_MYSQL

// What a migrator does while clients work.
#include "store/mysql/mysql_migration_session.hpp"
#include "store/backends.hpp"
#include "store/mysql_test.hpp"
#include "support/background.hpp"

#include <thread>

namespace rowlock::test {
namespace {

class mysql_migration_session_test : public mysql_test {};

// InnoDB rolls back the transaction that has changed less.
TEST_P(mysql_migration_session_test, runs_a_statement_again_that_was_undone_to_end_a_deadlock) {
  run(*side_, "CREATE TABLE @pair (id INT PRIMARY KEY, changes INT NOT NULL)");
  run(*side_, "INSERT INTO @pair VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)");
  const auto rival = raw();
  run(*rival, "BEGIN");
  run(*rival, "UPDATE @pair SET changes = changes + 10 WHERE id > 1");
  const auto session = store::open_mysql_for_migration(fixture_->url(), fixture_->options());
  auto applied = in_background([&] {
    session->apply(put("UPDATE @pair SET changes = changes + 1 WHERE id < 3"),
                   {.version = 99, .title = "more", .checksum = "", .applied_at = ""});
  });
  const auto waits = [&] {
    return value(
               "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' "
               "AND trx_query LIKE '%@pair%'") == "1";
  };
  while (!waits()) std::this_thread::sleep_for(120ms);  // see mysql_test::until_blocked
  run(*rival, "UPDATE @pair SET changes = changes + 10 WHERE id = 1");
  run(*rival, "COMMIT");
  applied.get();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(changes ORDER BY id) FROM @pair"), "11,11,10,10,10");
}

// As Percona XtraDB Cluster says it; that server cannot be had here.
TEST(strict_cluster_test, is_known_by_its_refusal_of_get_lock) {
  const auto refuses = [](const char* text, const char* code) {
    return store::mysql_migration_session::refuses_get_lock({errc::database, text, code});
  };
  EXPECT_TRUE(
      refuses("Percona-XtraDB-Cluster prohibits use of GET_LOCK with pxc_strict_mode = ENFORCING", "1105"));
  EXPECT_FALSE(
      refuses("Percona-XtraDB-Cluster prohibits use of GET_LOCK with pxc_strict_mode = ENFORCING", "1205"));
  EXPECT_FALSE(refuses("an unknown error", "1105"));
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_migration_session_test);

}  // namespace
}  // namespace rowlock::test

#endif
