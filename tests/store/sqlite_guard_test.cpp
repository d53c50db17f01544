// The guard in the application's own transaction, made with sqlite3 itself.
#include "sqlite_test.hpp"

namespace rowlock::test {
namespace {

class sqlite_guard_test : public sqlite_test {
 protected:
  sqlite_guard_test() {
    options_.statement_timeout = std::chrono::milliseconds{30};
    session_ = ready();
    mine_ = new_lease(*session_);
    create(*session_, "a");
    EXPECT_TRUE(acquire(*session_, "a", mine_.id, hold_));
    raw_sqlite{path()}.run("CREATE TABLE account (balance); INSERT INTO account VALUES (100)");
  }

  raw_sqlite::answer guard(raw_sqlite& application) {
    return application.ask(store::open_sqlite(path(), options_)->guard_sql(model::lock_mode::exclusive),
                           {"a", hold_.to_string()});
  }
  // Expects that somebody else cannot take the lock, even by claiming that the holder's lease is dead.
  void expect_nobody_can_take_it() {
    const store::edit_request edit{.name = "a", .about = {}, .decide = [](const store::lock_view&) {
                                     ADD_FAILURE() << "decided beside a guarded transaction";
                                     return store::lock_change{};
                                   }};
    EXPECT_EQ(session_->edit({&edit, 1}), std::vector{store::edit_result::skipped});
    EXPECT_TRUE(session_->kill({&mine_.id, 1}, {}).empty());
  }

  std::unique_ptr<store::session> session_;
  store::lease_record mine_;
  store::hold_id hold_ = store::hold_id::random();
};

TEST_F(sqlite_guard_test, it_keeps_everybody_out_until_the_transaction_ends) {
  for (const std::string begin : {"BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"}) {
    raw_sqlite application{path()};
    application.run(begin);
    const auto proof = guard(application);
    EXPECT_EQ(proof.code, SQLITE_DONE) << begin;
    EXPECT_EQ(proof.values.size(), 1U) << begin;
    expect_nobody_can_take_it();
    application.run("UPDATE account SET balance = balance - 50; COMMIT");
    EXPECT_TRUE(release(*session_, "a", mine_.id, hold_)) << begin;
    EXPECT_TRUE(acquire(*session_, "a", mine_.id, hold_)) << begin;
  }
}

TEST_F(sqlite_guard_test, an_older_snapshot_is_refused_and_never_passes) {
  raw_sqlite application{path()};
  application.run("BEGIN");
  EXPECT_EQ(application.number("SELECT balance FROM account"), 100);
  raw_sqlite{path()}.run("UPDATE account SET balance = 50");
  const auto proof = guard(application);
  EXPECT_EQ(proof.code, SQLITE_BUSY_SNAPSHOT);
  EXPECT_TRUE(proof.values.empty());
}

TEST_F(sqlite_guard_test, it_fails_at_once_beside_another_writer) {
  raw_sqlite application{path()};
  raw_sqlite other{path()};
  other.run("BEGIN IMMEDIATE");
  application.run("BEGIN");
  EXPECT_EQ(guard(application).code, SQLITE_BUSY);
}

TEST_F(sqlite_guard_test, no_hold_no_row) {
  raw_sqlite application{path()};
  ASSERT_TRUE(release(*session_, "a", mine_.id, hold_));
  application.run("BEGIN");
  EXPECT_TRUE(guard(application).values.empty());
  application.run("ROLLBACK");
  ASSERT_TRUE(acquire(*session_, "a", mine_.id, store::hold_id::random()));
  application.run("BEGIN IMMEDIATE");
  EXPECT_TRUE(guard(application).values.empty()) << "held again, by another hold";
}

TEST_F(sqlite_guard_test, a_hold_whose_lease_is_gone_has_no_row_though_the_lock_names_it) {
  session_->end({&mine_.id, 1});
  raw_sqlite application{path()};
  application.run("BEGIN");
  EXPECT_TRUE(guard(application).values.empty());
}

TEST_F(sqlite_guard_test, it_renews_a_lease_but_never_an_expired_one) {
  raw_sqlite application{path()};
  const std::string now = sqlite_now_us;
  const std::string left = "SELECT expires_at - " + now + " FROM rowlock_lease";
  application.run("UPDATE rowlock_lease SET expires_at = " + now + " + 5000000");
  EXPECT_EQ(guard(application).values.size(), 1U);
  EXPECT_GT(application.number(left), 20'000'000);
  application.run("UPDATE rowlock_lease SET expires_at = " + now + " - 1");
  EXPECT_EQ(guard(application).values.size(), 1U) << "an expired lease is alive until it is killed";
  EXPECT_LE(application.number(left), 0);
}

}  // namespace
}  // namespace rowlock::test
