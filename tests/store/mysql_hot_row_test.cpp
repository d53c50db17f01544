#ifdef ROWLOCK_TEST_MYSQL

// A statement for a permit waits briefly while rivals change the row, but not again for a row that stays locked.
#include "store/backends.hpp"
#include "store/mysql_test.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class mysql_hot_row_test : public mysql_test {
 protected:
  void SetUp() override {
    mysql_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    rival_ = raw();
    session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 100}});
    lease_ = new_lease(*session_);
  }

  void lock_the_row() { run(*rival_, "START TRANSACTION; SELECT 1 FROM @lock WHERE name = 's' FOR UPDATE"); }
  void let_go() { rival_->run("ROLLBACK"); }

  store::acquire_item request() const {
    return {"s",  model::lock_kind::semaphore, 100, lease_, hold_id::random(),
            true, model::lock_mode::shared,    1};
  }
  bool acquire(store::session& session) {
    const store::acquire_item wanted[] = {request()};
    return !session.acquire(wanted).empty();
  }
  // A counter of the whole server: how many statements wait for a row now, or how many ever have.
  std::int64_t status(const std::string& name) {
    return std::stoll(side_->run("SHOW GLOBAL STATUS LIKE '" + name + "'").at(0).at(1));
  }
  // What the call answers if the rival releases the row as soon as somebody waits for it.
  bool behind_a_rival(const std::function<bool()>& call) {
    lock_the_row();
    auto answer = in_background(call);
    while (answer.wait_for(0ms) != std::future_status::ready &&
           status("Innodb_row_lock_current_waits") == 0) {
    }
    let_go();
    return answer.get();
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<mysql_connection> rival_;
  lease_id lease_;
};

TEST_P(mysql_hot_row_test, a_permit_is_had_behind_a_rival) {
  // On a busy machine the rival may be too slow.
  bool acquired = false;
  for (int i = 0; i < 20 && !acquired; ++i) {
    const auto session = ready();
    acquired = behind_a_rival([&] { return acquire(*session); });
  }
  EXPECT_TRUE(acquired);
}

TEST_P(mysql_hot_row_test, a_permit_is_given_back_behind_a_rival) {
  bool released = false;
  for (int i = 0; i < 20 && !released; ++i) {
    const auto session = ready();
    const store::acquire_item wanted[] = {request()};
    ASSERT_EQ(session->acquire(wanted).size(), 1U);
    const store::release_item held[] = {{"s", lease_, wanted[0].hold, model::lock_mode::shared}};
    released = behind_a_rival([&] { return !session->release(held, store::durability::durable).empty(); });
  }
  EXPECT_TRUE(released);
}

TEST_P(mysql_hot_row_test, a_row_that_stays_locked_is_waited_for_once_in_a_while) {
  std::int64_t waits = 0;
  // A second after it gave up, the store may wait again. So the test must be quicker, and the machine may pause.
  std::chrono::nanoseconds since_it_gave_up = 1s;
  for (int tries = 0; tries < 5 && since_it_gave_up > 500ms; ++tries) {
    session_ = ready();
    lock_the_row();
    const auto before = status("Innodb_row_lock_waits");
    EXPECT_FALSE(acquire(*session_));
    const auto gave_up = std::chrono::steady_clock::now();
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(acquire(*session_));
    since_it_gave_up = std::chrono::steady_clock::now() - gave_up;
    waits = status("Innodb_row_lock_waits") - before;
    let_go();
  }
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(acquire(*session_));
  EXPECT_EQ(value("SELECT in_use FROM @lock WHERE name = 's'"), "1");
}

TEST_P(mysql_hot_row_test, a_free_row_is_not_waited_for) {
  const auto before = status("Innodb_row_lock_waits");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(acquire(*session_));
  EXPECT_EQ(status("Innodb_row_lock_waits"), before);
}

// The error is the one of a wait in vain. But the row was had, and the permit may be there.
TEST_P(mysql_hot_row_test, a_permit_that_takes_too_long_behind_a_rival_is_in_doubt) {
  if (GetParam() == "mysql") return;  // it limits the time of SELECT alone
  side_->run(put("CREATE TRIGGER @slow BEFORE INSERT ON @permit FOR EACH ROW DO SLEEP(10)"));
  auto options = fixture_->options();
  options.statement_timeout = 500ms;
  bool thrown = false;
  for (int i = 0; i < 20 && !thrown; ++i) {
    const auto session = store::open_mysql(fixture_->url(), options)->connect();
    session->record_database_state();
    try {
      behind_a_rival([&] { return acquire(*session); });
    } catch (const error& late) {
      thrown = true;
      EXPECT_EQ(late.database_code(), "1969");
      EXPECT_TRUE(late.outcome_unknown());
    }
  }
  EXPECT_TRUE(thrown);
  EXPECT_EQ(value("SELECT in_use FROM @lock WHERE name = 's'"), "0");
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_hot_row_test);

}  // namespace
}  // namespace rowlock::test

#endif
