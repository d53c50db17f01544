#ifdef ROWLOCK_TEST_MYSQL

// A transaction that has locked a row waits for nothing, on MySQL for no longer than a second, and no wake-up delays a
// release.
#include "contract/decisions.hpp"
#include "store/mysql_test.hpp"

namespace rowlock::test {
namespace {

class mysql_waiting_test : public mysql_test {
 protected:
  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    other_ = raw();
  }
  void let_go() { other_->run("ROLLBACK"); }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> other_;
};

// The user's transaction has read a permit that does not exist, and so locked the gap where it would stand. If an edit
// waited for that transaction, the edit would get a deadlock as soon as the transaction needs the lock's row.
TEST_P(mysql_waiting_test, an_edit_that_adds_a_permit_waits_for_no_gap_of_a_user) {
  session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  const auto lease = new_lease(*session_);
  run(*other_,
      "START TRANSACTION; SELECT 1 FROM @permit WHERE name = 's' AND hold_id = repeat('x', 16) FOR UPDATE");
  const auto add = [&] {
    try {
      edit(*session_, "s", [&](const store::lock_view& now) {
        store::lock_change change;
        change.row = now.row;
        change.row->in_use = 1;
        change.add_permits.push_back({hold_id::random(), lease, 1, ++change.row->token});
        return change;
      });
      return std::string{"added"};
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), errc::contention);
      return refused.database_code();
    }
  };
  if (GetParam() == "mysql") {
    // No wait of MySQL is shorter than a second.
    EXPECT_EQ(add(), "1205");
  } else {
    EXPECT_EQ(unwaiting(*session_, add, [&] { let_go(); }), "1205");
  }
  run(*other_, "SELECT 1 FROM @lock WHERE name = 's' FOR UPDATE");
  let_go();
  EXPECT_EQ(add(), "added");
}

TEST_P(mysql_waiting_test, a_hand_over_waits_for_no_lease) {
  const auto holder = new_hold(*session_, "a");
  const auto next = new_lease(*session_);
  const auto waiter = hold_id::random();
  ASSERT_EQ(edit(*session_, "a", enqueue(next, waiter)), store::edit_result::committed);
  run(*other_, "START TRANSACTION; SELECT 1 FROM @lease WHERE id = UNHEX(?) FOR UPDATE", {next.to_string()});
  const auto given = unwaiting(
      *session_,
      [&] {
        return session_->hand_over({holder.name, holder.lease, holder.hold}, 0us);
      },
      [&] { let_go(); });
  ASSERT_TRUE(given);
  EXPECT_EQ(given->granted, waiter);
  let_go();
}

TEST_P(mysql_waiting_test, a_hint_waits_for_no_lease_and_reaches_the_others) {
  const auto whom = new_lease(*session_);
  const auto another = new_lease(*session_);
  run(*other_, "START TRANSACTION; SELECT 1 FROM @lease WHERE id = UNHEX(?) FOR UPDATE", {whom.to_string()});
  unwaiting(
      *session_,
      [&] {
        session_->send_wakeups(std::vector<store::wakeup>{{whom}, {another}});
        return true;
      },
      [&] { let_go(); });
  let_go();
  EXPECT_EQ(value("SELECT wakes FROM @lease WHERE id = UNHEX('" + another.to_string() + "')"), "1");
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_waiting_test);

}  // namespace
}  // namespace rowlock::test

#endif
