// A name that is collected and created again at the same time keeps its tokens rising.
#include "store/postgres_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class postgres_collect_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    collector_ = raw();
    const auto hold = held(*session_, "a");
    ASSERT_TRUE(release(*session_, hold));
    side_->run("UPDATE rowlock_lock SET token = token + 1000000");
    token_ = side_->value("SELECT token FROM rowlock_lock");
  }

  // Runs the statements of collect(), and stops before its COMMIT.
  void collect_uncommitted() {
    for (const std::string name : {"take_meta", "collect_take", "collect_floor", "collect_delete"}) {
      collector_->run("PREPARE " + name + " AS " + postgres_query(name));
    }
    collector_->run("BEGIN; EXECUTE take_meta; EXECUTE collect_take (0, 10); EXECUTE collect_floor");
    collector_->run("EXECUTE collect_delete");
    ASSERT_EQ(collector_->value("SELECT count(*) FROM rowlock_lock"), "0");
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<raw_postgres> collector_;
  std::string token_;
};

TEST_F(postgres_collect_test, beside_a_creation_that_reads_the_floor_in_its_insert_lets_tokens_go_back) {
  collect_uncommitted();
  auto creator = raw();
  creator->run_until_blocked(
      "INSERT INTO rowlock_lock (name, kind, capacity, token) "
      "SELECT 'a', 'mutex', 1, token_floor FROM rowlock_meta ON CONFLICT DO NOTHING",
      *side_);
  collector_->run("COMMIT");
  creator->finish();
  EXPECT_LT(std::stoll(side_->value("SELECT token FROM rowlock_lock")), std::stoll(token_))
      << "this server reads the floor anew; then a later statement is not needed";
}

TEST_F(postgres_collect_test, beside_a_creation_by_the_store_keeps_tokens_rising) {
  collect_uncommitted();
  auto created = in_background([&] { create(*session_, "a"); });
  until_blocked(*side_, pid_of(*session_));
  collector_->run("COMMIT");
  created.get();
  EXPECT_GE(std::stoll(side_->value("SELECT token FROM rowlock_lock")), std::stoll(token_));
}

TEST_F(postgres_collect_test, that_rolls_back_beside_a_creation_leaves_the_lock) {
  collect_uncommitted();
  auto created = in_background([&] { create(*session_, "a"); });
  until_blocked(*side_, pid_of(*session_));
  collector_->run("ROLLBACK");
  created.get();
  EXPECT_EQ(side_->value("SELECT token FROM rowlock_lock"), token_);
}

}  // namespace
}  // namespace rowlock::test
