#ifdef ROWLOCK_TEST_MYSQL

// A renewal and a kill meet on one row, and each reads the clock once it has locked the row.
#include "store/mysql_test.hpp"

#include "support/background.hpp"
#include "support/shortest_time.hpp"

#include <thread>

namespace rowlock::test {
namespace {

class mysql_renewal_test : public mysql_test {
 protected:
  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    other_ = raw();
    lease_ = new_lease(*session_);
  }
  void lock_lease() { run(*other_, "START TRANSACTION; SELECT id FROM @lease FOR UPDATE"); }
  // Begins a renewal, and returns when it waits for the lease's row.
  std::future<bool> renew_behind_the_lock() {
    auto renewed = in_background([this] { return renew(*session_, lease_); });
    until_blocked(*session_, renewed);
    return renewed;
  }
  void until_expired() {
    while (expired() != "1") std::this_thread::sleep_for(5ms);
  }
  std::string expired() { return value("SELECT expires_at < sysdate(6) FROM @lease"); }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> other_;
  lease_id lease_;
};

// utc_timestamp() is the time at which the statement began, and the statement has waited for the row since.
TEST_P(mysql_renewal_test, that_asks_for_the_statements_time_revives_an_expired_lease) {
  const auto renewer = raw();
  fixture_->expire(lease_, -4s);
  lock_lease();
  auto renewed = run_until_blocked(*renewer,
                                   "UPDATE @lease SET expires_at = utc_timestamp(6) + INTERVAL 1 MINUTE "
                                   "WHERE expires_at > utc_timestamp(6)");
  until_expired();
  other_->run("COMMIT");
  renewed.get();
  EXPECT_EQ(expired(), "0") << "this server reads the clock anew; then sysdate() is not needed";
}

TEST_P(mysql_renewal_test, of_the_store_reads_the_clock_after_the_wait) {
  for (const std::string end : {"ROLLBACK", "COMMIT"}) {
    SCOPED_TRACE(end);
    until_uncontended([&] {
      other_->run("ROLLBACK");
      // On MySQL a renewal may wait for a second.
      fixture_->expire(lease_, -300ms);
      lock_lease();
      auto renewed = renew_behind_the_lock();
      until_expired();
      other_->run(end);
      EXPECT_FALSE(renewed.get());
      EXPECT_EQ(expired(), "1");
    });
  }
}

TEST_P(mysql_renewal_test, that_comes_first_wins_over_a_kill) {
  const auto killer = connect();
  until_uncontended([&] {
    other_->run("ROLLBACK");
    lock_lease();
    auto renewed = renew_behind_the_lock();
    // The lease has not expired, and is about to be renewed: the kill neither waits for long nor deletes.
    const auto took = shortest_time(2s, [&] {
      EXPECT_TRUE(killer->kill({&lease_, 1}, -1h).empty()) << "with a skew that makes it look expired";
    });
    EXPECT_LT(took, 2s);
    other_->run("COMMIT");
    EXPECT_TRUE(renewed.get());
  });
}

TEST_P(mysql_renewal_test, writes_one_row_however_many_locks_are_held) {
  std::vector<model::lock_definition> locks;
  std::vector<store::acquire_item> requests;
  for (int i = 0; i < 200; ++i) {
    locks.push_back({.name = "lock/" + std::to_string(1000 + i)});
    requests.push_back({.name = locks.back().name, .lease = lease_, .hold = hold_id::random()});
  }
  session_->create(locks);
  ASSERT_EQ(session_->acquire(requests).size(), 200U);
  const auto written = [&] {
    std::int64_t sum = 0;
    for (const auto* name : {"Handler_write", "Handler_update", "Handler_delete"}) {
      sum += std::stoll(side_->run("SHOW GLOBAL STATUS LIKE '" + std::string{name} + "'").at(0).at(1));
    }
    return sum;
  };
  // MySQL writes the answers to these queries into temporary tables.
  const auto first = written();
  const auto before = written();
  const auto by_asking = before - first;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(renew(*session_, lease_));
  EXPECT_EQ(written() - before - by_asking, 10);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_renewal_test);

}  // namespace
}  // namespace rowlock::test

#endif
