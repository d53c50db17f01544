#ifdef ROWLOCK_TEST_MYSQL

// The guard's statement against what the store takes, and against statements that look as good.
#include "contract/decisions.hpp"
#include "store/mysql_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

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
  void begin(const std::string& level) {
    application_->run("SET TRANSACTION ISOLATION LEVEL " + level + "; START TRANSACTION");
  }
  // Whether the statement proves the hold.
  bool proves(const std::string& statement, const claim& held) {
    return run(*application_, statement, {held.name, held.hold.to_string()}).size() == 1;
  }
  bool guarded(const claim& held) { return proves(database_->guard_sql(model::lock_mode::exclusive), held); }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> application_;
  claim hold_;
};

TEST_P(mysql_guard_test, stops_what_would_take_the_hold_away_until_it_ends) {
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
  EXPECT_TRUE(release(*session_, hold_));
}

TEST_P(mysql_guard_test, that_reads_plainly_alone_stops_nobody) {
  for (const auto& level : {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ"}) {
    SCOPED_TRACE(level);
    begin(level);
    ASSERT_TRUE(proves(plain, hold_));
    EXPECT_TRUE(release(*session_, hold_)) << "then the lock is not needed";
    application_->run("COMMIT");
    ASSERT_TRUE(acquire(*session_, hold_));
  }
}

// The balance was read before the acquire, and what the holder before has written is missing from it.
TEST_P(mysql_guard_test, that_locks_alone_lets_an_old_snapshot_write) {
  const auto withdraw = [&](const std::string& statement) {
    begin("REPEATABLE READ");
    application_->run("SELECT balance FROM account");
    // The holder takes 50 and releases; this process acquires.
    side_->run("UPDATE account SET balance = 50");
    EXPECT_TRUE(release(*session_, hold_));
    hold_ = new_hold(*session_, "a");
    if (!proves(statement, hold_)) {
      application_->run("ROLLBACK");
      return false;
    }
    const auto balance = std::stoi(application_->value("SELECT balance FROM account"));
    application_->run("UPDATE account SET balance = " + std::to_string(balance - 10) + "; COMMIT");
    return true;
  };
  ASSERT_TRUE(withdraw(locking));
  EXPECT_EQ(value("SELECT balance FROM account"), "90") << "this server needs no second look";
  side_->run("UPDATE account SET balance = 100");
  EXPECT_FALSE(withdraw(database_->guard_sql(model::lock_mode::exclusive)));
  EXPECT_EQ(value("SELECT balance FROM account"), "50");
}

TEST_P(mysql_guard_test, in_a_new_snapshot_proves_what_an_old_one_could_not) {
  for (const auto& level : levels) {
    SCOPED_TRACE(level);
    begin(level);
    EXPECT_TRUE(guarded(hold_));
    EXPECT_TRUE(guarded(hold_)) << "once more";
    application_->run("COMMIT");
  }
}

TEST_P(mysql_guard_test, after_a_snapshot_of_this_very_hold_is_good) {
  begin("REPEATABLE READ");
  application_->run("SELECT balance FROM account");
  const auto waiter = hold_id::random();
  ASSERT_EQ(edit(*session_, "a", enqueue(new_lease(*session_), waiter)), store::edit_result::committed);
  EXPECT_TRUE(guarded(hold_)) << "the row has changed since, but not the hold";
  application_->run("COMMIT");
}

TEST_P(mysql_guard_test, waits_for_a_release_under_way_and_then_proves_nothing) {
  for (const auto& level : levels) {
    SCOPED_TRACE(level);
    const auto releaser = raw();
    run(*releaser,
        "START TRANSACTION; UPDATE @lock SET hold_id = NULL, lease_id = NULL, in_use = 0 WHERE name = 'a'");
    begin(level);
    const auto id = application_->id();
    auto answer = in_background([&] { return guarded(hold_); });
    until_blocked(id);
    releaser->run("COMMIT");
    EXPECT_FALSE(answer.get());
    application_->run("ROLLBACK");
    hold_ = new_hold(*session_, "a");
  }
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
  begin("REPEATABLE READ");
  application_->run("SELECT balance FROM account");
  edit(*session_, "s", add);
  EXPECT_FALSE(proves(guard, held)) << "the snapshot is older than the permit";
  application_->run("ROLLBACK");
}

// A guard that finds no permit has locked the gap where it would stand, up to another name's.
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
    const auto granted = unwaiting(
        *session_, [&] { return session_->acquire(wanted); }, [&] { application_->run("ROLLBACK"); });
    EXPECT_TRUE(granted.empty()) << "then no care is needed";
    for (const auto& one : wanted) EXPECT_EQ(look(*session_, one.name).value().row.in_use, 0);
    application_->run("ROLLBACK");
    EXPECT_EQ(session_->acquire(wanted).size(), wanted.size());
  };
  expect_not_to_wait("s", {sharing("t")});
  expect_not_to_wait("b", {sharing("c"), sharing("d")});
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_guard_test);

}  // namespace
}  // namespace rowlock::test

#endif
