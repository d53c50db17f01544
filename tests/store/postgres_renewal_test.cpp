// A renewal and a kill meet on one row, and each reads the clock once it has locked the row.
#include "store/postgres_test.hpp"

#include "support/background.hpp"
#include "support/shortest_time.hpp"

namespace rowlock::test {
namespace {

class postgres_renewal_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    other_ = raw();
    lease_ = new_lease(*session_);
  }
  void expire(const std::string& when) {
    side_->run("UPDATE rowlock_lease SET expires_at = clock_timestamp() + $1::interval WHERE id = $2",
               {when, lease_.to_string()});
  }
  void lock_lease() { other_->run("BEGIN; SELECT FROM rowlock_lease FOR UPDATE"); }
  void until_expired() {
    side_->run("SELECT pg_sleep_until(max(expires_at) + interval '1 millisecond') FROM rowlock_lease");
  }
  std::string expired() { return side_->value("SELECT expires_at < clock_timestamp() FROM rowlock_lease"); }
  std::unique_ptr<store::session> session_;
  std::unique_ptr<raw_postgres> other_;
  lease_id lease_;
};

TEST_F(postgres_renewal_test, that_compares_the_clock_in_its_where_revives_a_lease_after_a_rollback) {
  auto renewer = raw();
  expire("3 seconds");
  lock_lease();
  renewer->run_until_blocked(
      "UPDATE rowlock_lease SET expires_at = clock_timestamp() + interval '1 minute' "
      "WHERE expires_at > clock_timestamp()",
      *side_);
  until_expired();
  other_->run("ROLLBACK");
  renewer->finish();
  EXPECT_EQ(expired(), "f") << "this server checks the WHERE again; then the locking step is not needed";
}

TEST_F(postgres_renewal_test, of_the_store_reads_the_clock_after_the_wait) {
  for (const std::string end : {"ROLLBACK", "COMMIT"}) {
    lease_ = new_lease(*session_);
    side_->run("DELETE FROM rowlock_lease WHERE id <> $1", {lease_.to_string()});
    expire("100 milliseconds");
    lock_lease();
    auto renewed = in_background([&] { return renew(*session_, lease_); });
    until_blocked(*side_, pid_of(*session_));
    until_expired();
    other_->run(end);
    EXPECT_FALSE(renewed.get()) << end;
    EXPECT_EQ(expired(), "t") << end;
  }
}

TEST_F(postgres_renewal_test, that_comes_first_wins_over_a_kill) {
  lock_lease();
  auto renewed = in_background([&] { return renew(*session_, lease_); });
  until_blocked(*side_, pid_of(*session_));
  // The lease has not expired, and is about to be renewed: the kill neither waits nor deletes.
  const auto killer = connect();
  const auto took = shortest_time(2s, [&] {
    EXPECT_TRUE(killer->kill({&lease_, 1}, -1h).empty()) << "with a skew that makes it look expired";
  });
  EXPECT_LT(took, 2s);
  other_->run("COMMIT");
  EXPECT_TRUE(renewed.get());
}

TEST_F(postgres_renewal_test, that_comes_second_finds_the_lease_dead) {
  expire("-1 second");
  other_->run("BEGIN");
  other_->run("PREPARE kill AS " + postgres_query("kill"));
  ASSERT_EQ(other_->run("EXECUTE kill ('{" + lease_.to_string() + "}', 0)").size(), 1U);
  auto renewed = in_background([&] { return renew(*session_, lease_); });
  until_blocked(*side_, pid_of(*session_));
  other_->run("COMMIT");
  EXPECT_FALSE(renewed.get());
}

TEST_F(postgres_renewal_test, beside_a_kill_that_rolls_back_still_finds_the_lease_expired) {
  expire("-1 second");
  other_->run("BEGIN");
  other_->run("PREPARE kill AS " + postgres_query("kill"));
  other_->run("EXECUTE kill ('{" + lease_.to_string() + "}', 0)");
  auto renewed = in_background([&] { return renew(*session_, lease_); });
  until_blocked(*side_, pid_of(*session_));
  other_->run("ROLLBACK");
  EXPECT_FALSE(renewed.get());
  EXPECT_EQ(session_->kill({&lease_, 1}, 0us).size(), 1U);
}

TEST_F(postgres_renewal_test, writes_one_row_however_many_locks_are_held) {
  std::vector<model::lock_definition> locks;
  std::vector<store::acquire_item> requests;
  for (int i = 0; i < 200; ++i) {
    locks.push_back({.name = "lock/" + std::to_string(1000 + i)});
    requests.push_back({.name = locks.back().name, .lease = lease_, .hold = hold_id::random()});
  }
  session_->create(locks);
  ASSERT_EQ(session_->acquire(requests).size(), 200U);
  restart(session_);
  const auto leases = counter("rowlock_lease", "n_tup_upd");
  const auto written = counter("rowlock_lock", "n_tup_upd");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(renew(*session_, lease_));
  restart(session_);
  EXPECT_EQ(counter("rowlock_lease", "n_tup_upd") - leases, 10);
  EXPECT_EQ(counter("rowlock_lock", "n_tup_upd"), written);
}

}  // namespace
}  // namespace rowlock::test
