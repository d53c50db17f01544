#ifdef ROWLOCK_TEST_MYSQL

// How many rows the server reads for a statement, when the tables have many rows that do not concern it.
#include "store/mysql_test.hpp"

namespace rowlock::test {
namespace {

class mysql_growth_test : public mysql_test {
 protected:
  static constexpr int many = 2000;

  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 10'000}});
    lease_ = new_lease(*session_);
  }

  hold_id share() {
    const store::acquire_item wanted{"s",  model::lock_kind::semaphore, 10'000, lease_, hold_id::random(),
                                     true, model::lock_mode::shared,    1};
    EXPECT_EQ(session_->acquire({&wanted, 1}).size(), 1U);
    return wanted.hold;
  }
  void fill() {
    for (int digit = 0; digit < many / 100; ++digit) {
      run(*side_,
          "INSERT INTO @permit (name, hold_id, lease_id, weight, token, granted_at) "
          "SELECT 's', random_bytes(16), UNHEX(?), 1, 1, utc_timestamp(6) "
          "FROM information_schema.columns LIMIT 100",
          {lease_.to_string()});
    }
    run(*side_, "UPDATE @lock SET in_use = in_use + " + std::to_string(many) + " WHERE name = 's'");
  }
  // How many rows the server has read, whatever for.
  std::int64_t rows_read() {
    std::int64_t sum = 0;
    for (const auto& row : side_->run("SHOW GLOBAL STATUS LIKE 'Handler_read%'"))
      sum += std::stoll(row.at(1));
    return sum;
  }
  // The first holder releases the lock while somebody waits.
  std::int64_t reads_of_a_release(bool trusts_in_use) {
    const auto held = share();
    store::edit_request asked{"s", held, [&](const store::lock_view& now) {
                                store::lock_change change;
                                change.row = now.row;
                                change.row->in_use -= 1;
                                change.remove_permits.push_back(held);
                                return change;
                              }};
    if (trusts_in_use) asked.permits_of = {held};
    const auto before = rows_read();
    EXPECT_EQ(session_->edit({&asked, 1}).at(0), store::edit_result::committed);
    return rows_read() - before;
  }

  std::unique_ptr<store::session> session_;
  lease_id lease_;
};

TEST_P(mysql_growth_test, a_release_reads_few_rows_however_many_permits_are_held) {
  fill();
  EXPECT_GT(reads_of_a_release(false), many) << "the server does not count what it reads";
  // Most of these reads are those of the query for the numbers.
  EXPECT_LT(reads_of_a_release(true), many / 2);
}

TEST_P(mysql_growth_test, a_look_at_many_waiters_of_a_lock_reads_its_permits_once) {
  fill();
  std::vector<store::hold_query> waiters;
  for (int i = 0; i < 50; ++i) waiters.push_back({"s", hold_id::random()});
  const auto before = rows_read();
  EXPECT_GT(session_->find(waiters).back().takeover_in, 0s);
  EXPECT_LT(rows_read() - before, 10 * many);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_growth_test);

}  // namespace
}  // namespace rowlock::test

#endif
