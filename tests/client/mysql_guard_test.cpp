// Guards on MariaDB and MySQL, where they differ from others.
#ifdef ROWLOCK_TEST_MYSQL

#include "client/client_test.hpp"
#include "client/raw_sql.hpp"
#include "support/mysql_connection.hpp"

#include <rowlock/guard/mysql.hpp>

namespace rowlock::test {
namespace {

class mysql_guard_test : public client_test {
 protected:
  // The application's own connection.
  mysql_connection app{as_application(fixture().url())};
  client db = new_client();
};

TEST_P(mysql_guard_test, renewals_go_on_meanwhile) {
  const client quick = new_client(quick_to_renew());
  const hold held = mutex(quick, "a").acquire();
  app.run("START TRANSACTION");
  guard(app.handle(), held);
  const auto renewals = quick.stats().renewals;
  EXPECT_TRUE(eventually([&] { return quick.stats().renewals >= renewals + 2; }));
  EXPECT_TRUE(held);
  app.run("COMMIT");
}

// Callers that come while the guarded transaction is open cannot join the queue, and wait all the same.
TEST_P(mysql_guard_test, who_wants_the_lock_meanwhile_gets_it_after) {
  hold held = mutex(db, "a").acquire();
  app.run("START TRANSACTION");
  guard(app.handle(), held);
  const client other = new_client();
  attempt waiter{other, "a"};
  EXPECT_FALSE(mutex(other, "a").try_acquire_for(200ms));
  EXPECT_EQ(held.release(), release_result::pending);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  app.run("COMMIT");
  EXPECT_GT(waiter.take().token(), held.token());
}

TEST_P(mysql_guard_test, a_dead_holders_guard_is_respected_to_its_end) {
  const client vanished = new_client(slow_to_renew());
  const hold held = mutex(vanished, "a").acquire();
  app.run("START TRANSACTION");
  guard(app.handle(), held);
  kill(lease_of("a"));
  EXPECT_FALSE(mutex(db, "a").try_acquire_for(200ms));
  app.run("COMMIT");
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(mysql_guard_test, without_autocommit_no_begin_is_needed) {
  const hold held = mutex(db, "a").acquire();
  app.run("SET autocommit = 0");
  EXPECT_NO_THROW(guard(app.handle(), held));
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  app.run("COMMIT");
}

TEST_P(mysql_guard_test, survives_what_the_application_may_have_set) {
  for (const auto* setting :
       {"SET NAMES latin1", "SET character_set_connection = utf16", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
        "SET sql_mode = 'ANSI,ONLY_FULL_GROUP_BY'", "SET sql_select_limit = 1", "SET time_zone = '+09:00'"}) {
    SCOPED_TRACE(setting);
    mysql_connection own{as_application(fixture().url())};
    own.run(setting);
    const hold held = mutex(db, "n\\'ä\"?/" + std::string{setting}).acquire();
    own.run("START TRANSACTION");
    EXPECT_NO_THROW(guard(own.handle(), held));
    own.run("COMMIT");
  }
}

TEST_P(mysql_guard_test, a_name_that_differs_in_case_alone_is_another) {
  const client slow = new_client(slow_to_renew());
  const hold small = mutex(slow, "a").acquire();
  ASSERT_TRUE(admin{db}.release("a"));
  const hold large = mutex(db, "A").acquire();
  app.run("START TRANSACTION");
  EXPECT_NO_THROW(guard(app.handle(), large));
  EXPECT_EQ(code_of([&] { guard(app.handle(), small); }), errc::hold_lost);
  app.run("ROLLBACK");
}

// XA PREPARE releases the lock on the row, and the transaction can still be committed.
TEST_P(mysql_guard_test, in_an_xa_transaction_is_refused) {
  const hold held = mutex(db, "a").acquire();
  app.run("XA START 'x'");
  EXPECT_EQ(code_of([&] { guard(app.handle(), held); }), errc::invalid_argument);
  app.run("XA END 'x'; XA ROLLBACK 'x'");
  app.run("START TRANSACTION");
  EXPECT_NO_THROW(guard(app.handle(), held));
  app.run("COMMIT");
}

// With MariaDB's innodb_snapshot_isolation, which is ON by default from 11.6, a row that has changed since the snapshot
// causes error 1020, whose SQLSTATE says nothing.
TEST_P(mysql_guard_test, refuses_an_old_snapshot_and_says_where_to_retry) {
  const bool has = !app.run("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").empty();
  ASSERT_EQ(has, app.value("SELECT VERSION()").find("MariaDB") != std::string::npos);
  for (const bool isolated : {false, true}) {
    SCOPED_TRACE(isolated);
    if (isolated && !has) break;
    if (has) app.run(std::string{"SET innodb_snapshot_isolation = "} + (isolated ? "ON" : "OFF"));
    app.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    const hold held = mutex(db, "a").acquire();
    try {
      guard(app.handle(), held);
      ADD_FAILURE() << "not refused";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), isolated ? errc::database : errc::hold_lost);
      EXPECT_EQ(refused.database_code(), isolated ? "40001" : "");
    }
    app.run("ROLLBACK");
    app.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    EXPECT_NO_THROW(guard(app.handle(), held));
    app.run("COMMIT");
  }
}

// Without MariaDB and MySQL among the stores of the run, the suite has no tests.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(mysql_guard_test);
INSTANTIATE_TEST_SUITE_P(stores, mysql_guard_test, testing::ValuesIn(selected_of({"mariadb", "mysql"})),
                         store_test_name);

}  // namespace
}  // namespace rowlock::test

#endif
