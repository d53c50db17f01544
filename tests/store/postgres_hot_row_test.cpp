// A statement for a permit waits briefly while rivals change the row, but not again for a row that stays locked.
#include "store/hot_row.hpp"

#include "store/postgres_test.hpp"
#include "support/background.hpp"

#include <chrono>
#include <functional>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class postgres_hot_row_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    rival_ = raw();
    session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 100}});
    lease_ = new_lease(*session_);
  }

  void lock_the_row() {
    rival_->run("BEGIN");
    rival_->run("SELECT FROM rowlock_lock WHERE name = 's' FOR NO KEY UPDATE");
  }
  void let_go() { rival_->run("ROLLBACK"); }
  // The store learns from an edit that rivals want the row.
  void make_hot() {
    lock_the_row();
    EXPECT_FALSE(look(*session_, "s"));
    let_go();
  }

  store::acquire_item request() const {
    return {"s",  model::lock_kind::semaphore, 100, lease_, hold_id::random(),
            true, model::lock_mode::shared,    1};
  }
  bool acquire() {
    const store::acquire_item wanted[] = {request()};
    return !session_->acquire(wanted).empty();
  }
  bool somebody_waits() {
    return side_->value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " +
                        std::to_string(pid_of(*session_))) != "0";
  }
  // What the call answers if the rival releases the row as soon as the call waits for it.
  bool behind_a_rival(const std::function<bool()>& call) {
    make_hot();
    lock_the_row();
    auto answer = in_background(call);
    while (answer.wait_for(0ms) != std::future_status::ready && !somebody_waits()) {
    }
    let_go();
    return answer.get();
  }
  // On a busy machine the rival may be too slow; then the store waits for no row for a while, and the test tries again.
  void expect_once(const std::function<bool()>& call) {
    for (int i = 0; i < 20; ++i) {
      if (behind_a_rival(call)) return;
      session_ = ready();
    }
    ADD_FAILURE() << "it never comes behind a rival";
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<raw_postgres> rival_;
  lease_id lease_;
};

TEST_F(postgres_hot_row_test, a_permit_is_had_behind_a_rival) {
  expect_once([&] { return acquire(); });
  EXPECT_EQ(side_->value("SELECT in_use FROM rowlock_lock WHERE name = 's'"), "1");
  EXPECT_EQ(side_->value("SELECT count(*) FROM rowlock_permit WHERE name = 's'"), "1");
}

TEST_F(postgres_hot_row_test, a_permit_is_given_back_behind_a_rival) {
  const store::acquire_item wanted[] = {request()};
  ASSERT_EQ(session_->acquire(wanted).size(), 1U);
  const store::release_item held[] = {{"s", lease_, wanted[0].hold, model::lock_mode::shared}};
  expect_once([&] { return !session_->release(held, store::durability::durable).empty(); });
  EXPECT_EQ(side_->value("SELECT in_use FROM rowlock_lock WHERE name = 's'"), "0");
}

// The permit's statement decides from what the rival has written.
TEST_F(postgres_hot_row_test, a_permit_counts_what_a_rival_has_taken_meanwhile) {
  make_hot();
  rival_->run("BEGIN");
  rival_->run("UPDATE rowlock_lock SET in_use = 100 WHERE name = 's'");
  auto answer = in_background([&] { return acquire(); });
  while (answer.wait_for(0ms) != std::future_status::ready && !somebody_waits()) {
  }
  rival_->run("COMMIT");
  EXPECT_FALSE(answer.get()) << "more permits than there are";
  EXPECT_EQ(side_->value("SELECT in_use FROM rowlock_lock WHERE name = 's'"), "100");
}

TEST_F(postgres_hot_row_test, a_row_that_stays_locked_is_waited_for_once_in_a_while) {
  using clock = std::chrono::steady_clock;
  clock::duration first{};  // how long the first acquire waits
  bool has_waited = false;  // whether the second one does
  // The row is hot for a second, and a second after it gave up the store may wait again. So the test must be quicker,
  // and the machine may pause.
  clock::duration whole = 1s;
  for (int tries = 0; tries < 5 && whole > 600ms; ++tries) {
    session_ = ready();
    const auto begun = clock::now();
    make_hot();
    lock_the_row();
    const auto locked = clock::now();
    EXPECT_FALSE(acquire());
    first = clock::now() - locked;
    EXPECT_FALSE(look(*session_, "s"));
    auto answer = in_background([&] { return acquire(); });
    has_waited = false;
    while (answer.wait_for(0ms) != std::future_status::ready) has_waited = has_waited || somebody_waits();
    EXPECT_FALSE(answer.get());
    whole = clock::now() - begun;
    let_go();
  }
  EXPECT_GE(first, store::hot_row::longest_wait);
  EXPECT_FALSE(has_waited);
  EXPECT_TRUE(acquire()) << "the connection is as good as before";
  EXPECT_EQ(side_->value("SELECT in_use FROM rowlock_lock WHERE name = 's'"), "1");
}

// Otherwise the server's limit for any statement would end the wait, and the call would fail.
TEST_F(postgres_hot_row_test, a_wait_in_vain_is_shorter_than_the_statement_timeout) {
  options_.statement_timeout = 90ms;
  bool answered = false;
  // The machine may pause for that long.
  for (int i = 0; i < 20 && !answered; ++i) {
    try {
      session_ = ready();
      make_hot();
      lock_the_row();
      EXPECT_FALSE(acquire());
      answered = true;
    } catch (const error& late) {
      EXPECT_EQ(late.code(), errc::contention);
    }
    let_go();
  }
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace rowlock::test
