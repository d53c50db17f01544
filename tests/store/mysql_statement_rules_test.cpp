#ifdef ROWLOCK_TEST_MYSQL

// No statement that writes decides from another table: each test shows what the tempting statement does in the same
// steps, and what the store does. If InnoDB does not find a row by its key, it reads the row's last version before it
// waits for the row: what a sub-query has seen by then stays. Statements must not depend on that.
#include "store/mysql_test.hpp"
#include "store/statement_rules.hpp"

namespace rowlock::test {
namespace {

class mysql_statement_rules_test : public mysql_test {
 protected:
  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    one_ = raw();
    two_ = raw();
    // The settings of rowlock's own connections.
    for (auto* each : {one_.get(), two_.get()}) {
      each->run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
      snapshot_isolation(*each, false);
    }
    create(*session_, "a");
  }

  // A lock whose holder's lease is missing, so that the lock is free; and a transaction that has just granted it to a
  // lease which the transaction also made.
  claim grant_uncommitted() {
    run(*one_, "UPDATE @lock SET in_use = 1, lease_id = random_bytes(16), hold_id = random_bytes(16)");
    claim next{"a", lease_id::random(), hold_id::random()};
    one_->run("START TRANSACTION");
    run(*one_,
        "INSERT INTO @lease (id, client_id, host, pid, application, ttl_ms, created_at, expires_at) "
        "VALUES (UNHEX($1), UNHEX($1), '', 1, '', 30000, "
        "        utc_timestamp(6), utc_timestamp(6) + INTERVAL 30 SECOND)",
        {next.lease.to_string()});
    run(*one_, "UPDATE @lock SET lease_id = UNHEX(?), hold_id = UNHEX(?)",
        {next.lease.to_string(), next.hold.to_string()});
    return next;
  }
  std::string holder() { return value("SELECT lower(hex(lease_id)) FROM @lock"); }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> one_, two_;
};

TEST_P(mysql_statement_rules_test, acquire_that_asks_whether_the_holder_lives_steals_a_live_lock) {
  const auto next = grant_uncommitted();
  auto stolen = run_until_blocked(
      *two_,
      "UPDATE @lock AS l SET lease_id = UNHEX('11111111111111111111111111111111') WHERE hex(name) = '61' AND "
      "(lease_id IS NULL OR NOT EXISTS (SELECT 1 FROM @lease AS h WHERE h.id = l.lease_id))");
  one_->run("COMMIT");
  stolen.get();
  EXPECT_NE(holder(), next.lease.to_string())
      << "this server reads the lease anew; then the rule is not needed";
}

TEST_P(mysql_statement_rules_test, the_store_leaves_that_lock_to_its_holder) {
  const auto next = grant_uncommitted();
  expect_left_to_its_holder(*session_, next, [&] { one_->run("COMMIT"); });
}

TEST_P(mysql_statement_rules_test, release_that_asks_whether_somebody_waits_loses_a_waiter) {
  const auto holder = claim{"a", new_lease(*session_), hold_id::random()};
  ASSERT_TRUE(acquire(*session_, holder));
  run(*one_, "START TRANSACTION; UPDATE @lock SET has_queue = 1, next_ticket = 2 WHERE name = 'a'");
  run(*one_,
      "INSERT INTO @queue (name, ticket, hold_id, lease_id) "
      "VALUES ('a', 1, random_bytes(16), random_bytes(16))");
  auto released = run_until_blocked(
      *two_,
      "UPDATE @lock AS l SET lease_id = NULL, hold_id = NULL, in_use = 0, has_queue = 0 "
      "WHERE hex(name) = '61' AND NOT EXISTS (SELECT 1 FROM @queue AS q WHERE q.name = 'a')");
  one_->run("COMMIT");
  released.get();
  EXPECT_EQ(value("SELECT has_queue FROM @lock"), "0") << "the rule is not needed on this server";
  EXPECT_EQ(value("SELECT count(*) FROM @queue"), "1") << "and nobody will look";
}

TEST_P(mysql_statement_rules_test, the_store_sees_that_waiter) {
  expect_waiter_is_seen(
      *session_,
      [&](hold_id waiter) {
        run(*one_, "START TRANSACTION; UPDATE @lock SET has_queue = 1, next_ticket = 2 WHERE name = 'a'");
        run(*one_,
            "INSERT INTO @queue (name, ticket, hold_id, lease_id) "
            "VALUES ('a', 1, UNHEX(?), random_bytes(16))",
            {waiter.to_string()});
      },
      [&] { one_->run("COMMIT"); });
}

// Whatever the server-wide settings for the application are, rowlock's connections have their own.
TEST_P(mysql_statement_rules_test, the_store_pins_its_isolation) {
  const auto level =
      side_->run("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')")
          .at(0)
          .at(1);
  side_->run("SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  const auto session = connect();
  side_->run("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  ASSERT_EQ(level, "REPEATABLE-READ") << "the default, which was put back";
  const auto holder = claim{"a", new_lease(*session), hold_id::random()};
  ASSERT_TRUE(acquire(*session, holder));
  // A reader that locks what it reads would wait for this row, or others would wait for the reader.
  run(*one_, "START TRANSACTION; SELECT 1 FROM @lock WHERE name = 'a' FOR UPDATE");
  EXPECT_EQ(session->find(std::vector<store::hold_query>{{"a", holder.hold}}).at(0).state,
            store::hold_status::where::held);
  one_->run("ROLLBACK");
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_statement_rules_test);

}  // namespace
}  // namespace rowlock::test

#endif
