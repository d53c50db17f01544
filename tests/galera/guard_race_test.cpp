// A guarded transaction at one node races against a client that takes the lock away at another. The cluster
// orders them when they commit, by what they have written; only its own node knows of a lock on a row.
#include "galera_test.hpp"

#include "support/background.hpp"

#include <rowlock/guard/mysql.hpp>
#include <rowlock/rowlock.hpp>

#include <future>
#include <thread>

namespace rowlock::test {

namespace {

class guard_race_test : public galera_test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(galera_test::SetUp());
    sql(1)->run(
        "CREATE TABLE work (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, token bigint NOT NULL);"
        "CREATE TABLE seen (token bigint NOT NULL PRIMARY KEY, before_it bigint NOT NULL)");
  }
};

TEST_F(guard_race_test, needs_a_write_which_the_guard_has) {
  const client db = connect(url(1));
  const hold held = mutex(db, "a").acquire();
  EXPECT_NE(held.guard_statement().write, "");
}

TEST_F(guard_race_test, never_commits_after_the_next_holder_has_looked) {
  options slow;
  slow.ttl = 1h;  // the client must not learn of its loss from a renewal
  const client here = connect(url(1), slow);
  const client there = connect(url(2), slow);
  const auto look = sql(1);
  int committed = 0;
  int refused = 0;
  for (int round = 0; round < 25; ++round) {
    const hold old = mutex(here, "a").acquire();
    const auto old_token = old.token().to_string();
    std::promise<void> taken;
    std::jthread guarded{[&] {
      mysql_connection app{as_application(url(1))};
      try {
        app.run("START TRANSACTION");
        guard(app.handle(), old);
        app.run("INSERT INTO work (token) VALUES (" + old_token + ")");
        // One guarded transaction in three is certainly too late, one is in time, and the third one races.
        if (round % 3 == 1) taken.get_future().wait();
        app.run("COMMIT");
        ++committed;
      } catch (const std::exception&) {
        ++refused;
      }
    }};
    // The other node takes the lock by force, a little earlier or later in each round; after that the next holder
    // works.
    if (round % 3 == 0) guarded.join();
    std::this_thread::sleep_for(std::chrono::microseconds{300 * round});
    until("it is released", [&] {
      try {
        return admin{there}.release("a");
      } catch (const error& later) {
        return false;
      }
    });
    const hold next = mutex(there, "a").acquire();
    mysql_connection app{as_application(url(2))};
    app.run("START TRANSACTION");
    guard(app.handle(), next);
    app.run("INSERT INTO seen SELECT " + next.token().to_string() +
            ", count(*) FROM work WHERE token = " + old_token);
    app.run("COMMIT");
    taken.set_value();
    if (guarded.joinable()) guarded.join();
    // Each node answers only after it has applied what the other has committed.
    look->run("SET wsrep_sync_wait = 1");
    EXPECT_EQ(look->number("SELECT count(*) FROM work WHERE token = " + old_token),
              look->number("SELECT before_it FROM seen WHERE token = " + next.token().to_string()))
        << "in round " << round;
  }
  EXPECT_GT(refused, 0) << "no commit was too late: there was no race";
  EXPECT_GT(committed, 0) << "no commit was in time: there was no race";
}

// With a share lock, each transaction would wait for the other's before it writes.
TEST_F(guard_race_test, of_two_transactions_of_one_hold_at_one_node_waits_and_deadlocks_not) {
  const client db = connect(url(1));
  const hold exclusive = mutex(db, "a").acquire();
  shared_mutex catalog{db, "catalog"};
  const hold shared = catalog.acquire_shared();
  for (const hold* held : {&exclusive, &shared}) {
    SCOPED_TRACE(held->name());
    const auto guard = held->guard_statement();
    mysql_connection one{as_application(url(1))};
    mysql_connection two{as_application(url(1))};
    for (auto* each : {&one, &two}) {
      // Where this is ON by default, the second transaction would have to run again (1020), as docs/operations.md says.
      each->run("SET SESSION innodb_snapshot_isolation = OFF");
      each->run("START TRANSACTION");
      EXPECT_EQ(each->run(guard.sql, {guard.parameters[0], guard.parameters[1]}).size(), 1U);
    }
    const auto write = [&](mysql_connection& on) {
      on.run(guard.write, {guard.parameters[0], guard.parameters[1]});
    };
    write(one);
    auto other = in_background([&] { write(two); });
    one.run("COMMIT");
    EXPECT_NO_THROW(other.get());
    two.run("COMMIT");
  }
}

// Here only the guard's write helps. A node that applies a loss ends the transactions that have the row
// locked, with one exception: a commit that already has its place in the order is applied again, and reads
// nothing.
TEST_F(guard_race_test, refuses_a_commit_that_is_ordered_after_a_loss_which_its_node_has_yet_to_apply) {
  options slow;
  slow.ttl = 1h;
  const client here = connect(url(1), slow);
  const client there = connect(url(2), slow);
  sql(2)->run("CREATE TABLE valve (id int NOT NULL PRIMARY KEY)");
  const hold old = mutex(here, "a").acquire();
  const auto old_token = old.token().to_string();
  mysql_connection late{as_application(url(1))};
  late.run("START TRANSACTION");
  guard(late.handle(), old);
  late.run("INSERT INTO work (token) VALUES (" + old_token + ")");
  // These changes wait at the first node, one in each of its applier threads. So does everything that is committed
  // after them.
  mysql_connection valve{as_application(url(1))};
  valve.run("LOCK TABLES valve READ");
  for (auto threads = number("SELECT @@GLOBAL.wsrep_slave_threads"); threads > 0; --threads) {
    sql(2)->run("ALTER TABLE valve COMMENT 'closed " + std::to_string(threads) + "'");
  }
  until("it is released", [&] { return admin{there}.release("a"); });
  const hold next = mutex(there, "a").acquire();
  const auto other = sql(2);
  other->begin();
  other->guard(next);
  other->run("INSERT INTO seen SELECT " + next.token().to_string() +
             ", count(*) FROM work WHERE token = " + old_token);
  other->run("COMMIT");
  const auto sent = [look = sql(1)] {
    return std::stoll(look->run("SHOW GLOBAL STATUS LIKE 'wsrep_replicated'").at(0).at(1));
  };
  late.run("DO 1");  // nothing has ended the transaction until here
  const auto before = sent();
  auto commit = in_background([&] {
    try {
      late.run("COMMIT");
      return 0U;
    } catch (const mysql_failure& refused) {
      return refused.number();
    }
  });
  until("its commit is ordered",
        [&] { return commit.wait_for(0s) == std::future_status::ready || sent() > before; });
  valve.run("UNLOCK TABLES");
  EXPECT_EQ(commit.get(), 1213U);
  const auto look = sql(1);
  look->run("SET wsrep_sync_wait = 1");
  EXPECT_EQ(look->number("SELECT before_it FROM seen"), 0);
  EXPECT_EQ(look->number("SELECT count(*) FROM work"), 0) << "it was written after the next holder had read";
}

}  // namespace

}  // namespace rowlock::test
