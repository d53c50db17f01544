#ifdef ROWLOCK_TEST_MYSQL

// The guard's statement against what the store takes, and against statements that look equivalent.
#include "contract/decisions.hpp"
#include "store/mysql_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

using testing::AnyOf;

const std::string locking = "SELECT 1 FROM @lock WHERE name = ? AND hold_id = UNHEX(?) LOCK IN SHARE MODE";
const std::string plain = "SELECT 1 FROM @lock WHERE name = ? AND hold_id = UNHEX(?)";

const std::vector<std::string> levels{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ",
                                      "SERIALIZABLE"};

class mysql_guard_test : public mysql_test {
 protected:
  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    application_ = raw();
    hold_ = new_hold(*session_, "a");
    run(*side_, "CREATE TABLE account (balance INT NOT NULL)");
    run(*side_, "INSERT INTO account VALUES (100)");
  }
  // Runs the part with MariaDB's innodb_snapshot_isolation and without it; once on a server that has no such setting.
  void with_and_without_snapshot_isolation(const std::function<void(bool isolated)>& part) {
    for (const bool isolated : {false, true}) {
      if (!snapshot_isolation(*application_, isolated) && isolated) return;
      SCOPED_TRACE(isolated ? "with snapshot isolation" : "without snapshot isolation");
      part(isolated);
    }
  }
  void begin(const std::string& level) {
    application_->run("SET TRANSACTION ISOLATION LEVEL " + level + "; START TRANSACTION");
  }
  // Whether the statement proves the hold.
  bool proves(const std::string& statement, const claim& held) {
    return run(*application_, statement, {held.name, held.hold.to_string()}).size() == 1;
  }
  bool guarded(const claim& held) { return proves(database_->guard_sql(model::lock_mode::exclusive), held); }
  // What the statement says about the hold: "held", "not held", or the number of the server's refusal.
  std::string answer(const std::string& statement, const claim& held) {
    try {
      return proves(statement, held) ? "held" : "not held";
    } catch (const mysql_failure& refused) {
      return std::to_string(refused.number());
    }
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> application_;
  claim hold_;
};

TEST_P(mysql_guard_test, stops_what_would_take_the_hold_away_until_it_ends) {
  with_and_without_snapshot_isolation([&](bool) {
    for (const auto& level : levels) {
      SCOPED_TRACE(level);
      begin(level);
      ASSERT_TRUE(guarded(hold_));
      EXPECT_FALSE(release(*session_, hold_));
      EXPECT_EQ(edit(*session_, "a", grant_to(new_lease(*session_), hold_id::random())),
                store::edit_result::skipped);
      application_->run("COMMIT");
      EXPECT_TRUE(look(*session_, "a").value().replaceable);
    }
  });
  EXPECT_TRUE(release(*session_, hold_));
}

TEST_P(mysql_guard_test, that_reads_plainly_alone_stops_nobody) {
  with_and_without_snapshot_isolation([&](bool) {
    for (const auto& level : {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ"}) {
      SCOPED_TRACE(level);
      begin(level);
      ASSERT_TRUE(proves(plain, hold_));
      EXPECT_TRUE(release(*session_, hold_)) << "then the lock is not needed";
      application_->run("COMMIT");
      ASSERT_TRUE(acquire(*session_, hold_));
    }
  });
}

// The transaction read the balance before the acquire, so it misses what the previous holder has written.
TEST_P(mysql_guard_test, that_locks_alone_lets_an_old_snapshot_write) {
  const auto withdraw = [&](const std::string& statement) {
    side_->run("UPDATE account SET balance = 100");
    begin("REPEATABLE READ");
    application_->run("SELECT balance FROM account");
    // The holder takes 50 and releases; this process acquires.
    side_->run("UPDATE account SET balance = 50");
    EXPECT_TRUE(release(*session_, hold_));
    hold_ = new_hold(*session_, "a");
    auto said = answer(statement, hold_);
    if (said == "held") {
      const auto balance = std::stoi(application_->value("SELECT balance FROM account"));
      application_->run("UPDATE account SET balance = " + std::to_string(balance - 10) + "; COMMIT");
    } else {
      application_->run("ROLLBACK");
    }
    return said;
  };
  const auto guard = database_->guard_sql(model::lock_mode::exclusive);
  with_and_without_snapshot_isolation([&](bool isolated) {
    EXPECT_EQ(withdraw(locking), isolated ? "1020" : "held");
    EXPECT_EQ(value("SELECT balance FROM account"), isolated ? "50" : "90") << "no second look is needed";
    EXPECT_EQ(withdraw(guard), isolated ? "1020" : "not held");
    EXPECT_EQ(value("SELECT balance FROM account"), "50");
    begin("REPEATABLE READ");
    EXPECT_TRUE(guarded(hold_)) << "once more, the transaction is good";
    application_->run("COMMIT");
  });
}

TEST_P(mysql_guard_test, in_a_new_snapshot_proves_what_an_old_one_could_not) {
  with_and_without_snapshot_isolation([&](bool) {
    for (const auto& level : levels) {
      SCOPED_TRACE(level);
      begin(level);
      EXPECT_TRUE(guarded(hold_));
      EXPECT_TRUE(guarded(hold_)) << "once more";
      application_->run("COMMIT");
    }
  });
}

// The row has changed since the snapshot, but not the hold. With snapshot isolation the server cannot know that.
TEST_P(mysql_guard_test, after_a_snapshot_of_this_very_hold_is_good) {
  const auto guard = database_->guard_sql(model::lock_mode::exclusive);
  with_and_without_snapshot_isolation([&](bool isolated) {
    begin("REPEATABLE READ");
    application_->run("UPDATE account SET balance = 1");
    application_->run("SELECT balance FROM account");
    const auto waiter = hold_id::random();
    ASSERT_EQ(edit(*session_, "a", enqueue(new_lease(*session_), waiter)), store::edit_result::committed);
    EXPECT_EQ(answer(guard, hold_), isolated ? "1020" : "held");
    application_->run("COMMIT");
    EXPECT_EQ(value("SELECT balance FROM account"), isolated ? "100" : "1") << "1020 rolls all of it back";
    side_->run("UPDATE account SET balance = 100");
    begin("REPEATABLE READ");
    EXPECT_TRUE(guarded(hold_)) << "once more, the transaction is good";
    application_->run("COMMIT");
  });
}

TEST_P(mysql_guard_test, waits_for_a_release_under_way_and_then_proves_nothing) {
  const auto guard = database_->guard_sql(model::lock_mode::exclusive);
  with_and_without_snapshot_isolation([&](bool isolated) {
    for (const auto& level : levels) {
      SCOPED_TRACE(level);
      const auto releaser = raw();
      run(*releaser,
          "START TRANSACTION; UPDATE @lock SET hold_id = NULL, lease_id = NULL, in_use = 0 WHERE name = 'a'");
      begin(level);
      const auto id = application_->id();
      auto said = in_background([&] { return answer(guard, hold_); });
      until_blocked(id);
      releaser->run("COMMIT");
      EXPECT_THAT(said.get(), AnyOf("not held", isolated ? "1020" : "not held"));
      application_->run("ROLLBACK");
      hold_ = new_hold(*session_, "a");
    }
  });
}

TEST_P(mysql_guard_test, of_a_permit_stops_what_would_take_it_away_and_looks_twice) {
  session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  model::permit permit{hold_id::random(), new_lease(*session_), 2, 0};
  const auto add = [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = permit.weight;
    permit.token = ++change.row->token;
    change.add_permits.push_back(permit);
    return change;
  };
  const auto take = [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 0;
    change.remove_permits.push_back(permit.hold);
    return change;
  };
  const claim held{"s", permit.lease, permit.hold};
  const auto guard = database_->guard_sql(model::lock_mode::shared);
  with_and_without_snapshot_isolation([&](bool) {
    for (const auto& level : levels) {
      SCOPED_TRACE(level);
      edit(*session_, "s", add);
      begin(level);
      ASSERT_TRUE(proves(guard, held));
      EXPECT_THROW(edit(*session_, "s", take), error);
      application_->run("COMMIT");
      ASSERT_EQ(edit(*session_, "s", take), store::edit_result::committed);
      begin(level);
      EXPECT_FALSE(proves(guard, held));
      application_->run("ROLLBACK");
    }
  });
  with_and_without_snapshot_isolation([&](bool isolated) {
    begin("REPEATABLE READ");
    application_->run("SELECT balance FROM account");
    edit(*session_, "s", add);
    EXPECT_EQ(answer(guard, held), isolated ? "1020" : "not held") << "the snapshot is older than the permit";
    application_->run("ROLLBACK");
    edit(*session_, "s", take);
  });
}

// A guard that finds no permit has locked the gap where the permit would stand, up to the next name.
TEST_P(mysql_guard_test, of_a_permit_that_is_gone_makes_no_fast_acquire_wait) {
  std::vector<model::lock_definition> locks;
  for (const auto* name : {"b", "c", "d", "s", "t", "z"})
    locks.push_back({name, model::lock_kind::semaphore, 5});
  session_->create(locks);
  const auto lease = new_lease(*session_);
  const auto sharing = [&](const std::string& name) { return permits_of_five(name, lease); };
  ASSERT_EQ(session_->acquire(std::vector{sharing("z")}).size(), 1U) << "where the gap ends";
  const auto expect_not_to_wait = [&](const std::string& guarded,
                                      const std::vector<store::acquire_item>& wanted) {
    SCOPED_TRACE(guarded);
    begin("REPEATABLE READ");
    EXPECT_FALSE(proves(database_->guard_sql(model::lock_mode::shared), {guarded, lease, hold_id::random()}));
    const auto acquire = [&] { return session_->acquire(wanted); };
    // No wait of MySQL is shorter than a second, so there the wait ends by itself after that time.
    const auto granted = GetParam() == "mysql"
                             ? acquire()
                             : unwaiting(*session_, acquire, [&] { application_->run("ROLLBACK"); });
    EXPECT_TRUE(granted.empty()) << "then no care is needed";
    for (const auto& one : wanted) EXPECT_EQ(look(*session_, one.name).value().row.in_use, 0);
    application_->run("ROLLBACK");
    EXPECT_EQ(session_->acquire(wanted).size(), wanted.size());
  };
  expect_not_to_wait("s", {sharing("t")});
  expect_not_to_wait("b", {sharing("c"), sharing("d")});
}

// The server commits before these statements, and the rest of the program's transaction is not guarded.
TEST_P(mysql_guard_test, ends_at_a_statement_that_commits_implicitly) {
  for (const auto* statement : {"CREATE TABLE IF NOT EXISTS account (balance INT)", "TRUNCATE TABLE account",
                                "LOCK TABLES account WRITE", "START TRANSACTION"}) {
    SCOPED_TRACE(statement);
    begin("REPEATABLE READ");
    ASSERT_TRUE(guarded(hold_));
    EXPECT_FALSE(release(*session_, hold_));
    application_->run(statement);
    EXPECT_TRUE(release(*session_, hold_)) << "then its transaction goes on";
    application_->run("UNLOCK TABLES; ROLLBACK");
    hold_ = new_hold(*session_, "a");
  }
}

TEST_P(mysql_guard_test, outlasts_a_rollback_to_a_later_savepoint) {
  for (const auto& level : levels) {
    SCOPED_TRACE(level);
    begin(level);
    ASSERT_TRUE(guarded(hold_));
    application_->run("SAVEPOINT s; UPDATE account SET balance = 1; ROLLBACK TO SAVEPOINT s");
    EXPECT_FALSE(release(*session_, hold_));
    application_->run("COMMIT");
  }
}

// InnoDB had no part in the transaction when the savepoint was set, so a rollback to it is one of all that InnoDB did.
TEST_P(mysql_guard_test, may_end_with_a_rollback_to_an_earlier_savepoint) {
  begin("REPEATABLE READ");
  application_->run("SAVEPOINT s");
  ASSERT_TRUE(guarded(hold_));
  EXPECT_FALSE(release(*session_, hold_));
  application_->run("ROLLBACK TO SAVEPOINT s");
  EXPECT_TRUE(release(*session_, hold_)) << "then the pages need not warn of it";
  application_->run("ROLLBACK");
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_guard_test);

}  // namespace
}  // namespace rowlock::test

#endif
