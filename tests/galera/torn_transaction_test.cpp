// A node aborts a transaction in favour of one that another node has committed, at any point between its statements.
#include "galera_test.hpp"

#include <rowlock/error.hpp>

#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::test {

namespace {

// Change the locks again and again, each with a session at another node.
class rivals {
 public:
  explicit rivals(std::vector<std::unique_ptr<sql_session>> sessions) {
    for (auto& one : sessions) {
      threads_.emplace_back([session = std::move(one)](std::stop_token stop) {
        std::minstd_rand random{std::random_device{}()};
        while (!stop.stop_requested()) {
          try {
            session->run("UPDATE rowlock_lock SET guards = guards + 1");
          } catch (const std::exception&) {
            // This one was aborted.
          }
          // Without pauses the node under test would hardly ever commit.
          std::this_thread::sleep_for(std::chrono::microseconds{random() % 3'000});
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

class torn_transaction_test : public galera_test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(galera_test::SetUp());
    look_ = sql(1);
    session_ = session_at(1);
    session_->record_database_state();
    session_->create_lease({lease, lease, "host", 1, "test", 1h});
    session_->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
    until("the locks are at every node", [&] {
      return number("SELECT count(*) FROM rowlock_lock", 2) +
                 number("SELECT count(*) FROM rowlock_lock", 3) ==
             4;
    });
  }

  store::session& session() { return *session_; }
  std::int64_t look(const std::string& sql) { return look_->number(sql); }
  std::int64_t holds(const model::hold_id& hold) {
    return look("SELECT count(*) FROM rowlock_lock WHERE hold_id = UNHEX('" + hold.to_string() + "')");
  }

  // Calls the function until many of its calls were aborted.
  template <class Call>
  void until_often_aborted(Call call) {
    constexpr int enough = 300;
    constexpr int fewest = 120;  // a busy machine has no time for more
    std::vector<std::unique_ptr<sql_session>> elsewhere;
    for (const int node : {2, 3}) elsewhere.push_back(sql(node));
    const rivals others{std::move(elsewhere)};
    const auto deadline = std::chrono::steady_clock::now() + 120s;
    int aborted = 0;
    int succeeded = 0;
    while (aborted < enough && std::chrono::steady_clock::now() < deadline && !HasFailure()) {
      ++(call() ? succeeded : aborted);
    }
    EXPECT_GE(aborted, fewest) << "the others were in the way too seldom to show anything";
    EXPECT_GT(succeeded, 0);
  }
  // Whether the call succeeded. False: it was aborted, which may have broken the connection.
  template <class Call>
  bool succeeds(Call call) {
    try {
      call();
      return true;
    } catch (const error& refusal) {
      EXPECT_TRUE(refusal.transient()) << refusal.what();
      if (refusal.code() == errc::unreachable) session_ = session_at(1);
      return false;
    }
  }

  const model::lease_id lease = model::lease_id::random();

 private:
  std::unique_ptr<sql_session> look_;
  std::unique_ptr<store::session> session_;
};

TEST_F(torn_transaction_test, an_edit_is_committed_whole_or_not_at_all) {
  model::hold_id before;
  until_often_aborted([&] {
    const auto now = model::hold_id::random();
    store::token token = 0;
    const store::edit_request edit{.name = "a", .about = {}, .decide = [&](const store::lock_view& view) {
                                     store::lock_change change;
                                     change.row = view.row;
                                     token = ++change.row->token;
                                     change.row->has_queue = true;
                                     change.enqueue = {{change.row->next_ticket++, now, lease, 1}};
                                     if (before != model::hold_id{}) change.dequeue = {before};
                                     return change;
                                   }};
    auto result = store::edit_result::skipped;
    const bool said = succeeds([&] {
                        result = session().edit({&edit, 1}).front();
                      }) &&
                      result == store::edit_result::committed;
    const bool stands =
        look("SELECT count(*) FROM rowlock_queue WHERE hold_id = UNHEX('" + now.to_string() + "')") == 1;
    EXPECT_EQ(look("SELECT count(*) FROM rowlock_queue"), stands || before != model::hold_id{});
    EXPECT_EQ(look("SELECT token FROM rowlock_lock WHERE name = 'a'") >= token && token > 0, stands);
    EXPECT_EQ(look("SELECT ifnull(next_ticket = (SELECT max(ticket) + 1 FROM rowlock_queue), 1) FROM "
                   "rowlock_lock WHERE name = 'a'"),
              1);
    EXPECT_TRUE(stands || !said) << "it was said to be committed";
    if (stands) before = now;
    return said;
  });
}

TEST_F(torn_transaction_test, several_locks_are_acquired_and_released_as_it_is_said) {
  until_often_aborted([&] {
    const model::hold_id hold[] = {model::hold_id::random(), model::hold_id::random()};
    const std::vector<store::acquire_item> wanted{{.name = "a", .lease = lease, .hold = hold[0]},
                                                  {.name = "b", .lease = lease, .hold = hold[1]}};
    std::size_t granted = 0;
    const bool acquired = succeeds([&] { granted = session().acquire_all(wanted).size(); }) && granted > 0;
    EXPECT_EQ(holds(hold[0]), holds(hold[1]));
    EXPECT_TRUE(holds(hold[0]) == 1 || !acquired) << "it was said to be granted";
    bool clean = acquired;
    while (holds(hold[0]) + holds(hold[1]) > 0 && !HasFailure()) {
      const std::vector<store::release_item> held{{"a", lease, hold[0]}, {"b", lease, hold[1]}};
      std::vector<model::hold_id> freed;
      clean = succeeds([&] { freed = session().release(held, store::durability::durable); }) && clean;
      for (const auto& one : freed) EXPECT_EQ(holds(one), 0) << "it was said to be free";
    }
    return clean;
  });
}

// MariaDB runs these scripts as blocks, each in one round trip.
TEST_F(torn_transaction_test, a_permit_is_acquired_and_released_as_it_is_said) {
  session().create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  until_often_aborted([&] {
    const auto hold = model::hold_id::random();
    const auto permits = [&] {
      const auto found =
          look("SELECT count(*) FROM rowlock_permit WHERE hold_id = UNHEX('" + hold.to_string() + "')");
      EXPECT_EQ(look("SELECT in_use FROM rowlock_lock WHERE name = 's'"), found);
      return found;
    };
    const store::acquire_item wanted{.name = "s",
                                     .kind = model::lock_kind::semaphore,
                                     .capacity = 5,
                                     .lease = lease,
                                     .hold = hold,
                                     .mode = model::lock_mode::shared};
    std::size_t granted = 0;
    bool clean = succeeds([&] { granted = session().acquire({&wanted, 1}).size(); }) && granted == 1;
    EXPECT_TRUE(permits() == 1 || !clean) << "it was said to be granted";
    while (permits() == 1 && !HasFailure()) {
      const store::release_item held{"s", lease, hold, model::lock_mode::shared};
      std::size_t freed = 0;
      clean = succeeds([&] {
                freed = session().release({&held, 1}, store::durability::durable).size();
              }) &&
              clean;
      EXPECT_TRUE(permits() == 0 || freed == 0) << "it was said to be free";
    }
    return clean;
  });
}

TEST_F(torn_transaction_test, a_lock_is_waited_for_and_handed_over_as_it_is_said) {
  auto holder = model::hold_id::random();
  const store::acquire_item first{.name = "a", .lease = lease, .hold = holder};
  ASSERT_EQ(session().acquire({&first, 1}).size(), 1U);
  until_often_aborted([&] {
    const auto waiter = model::hold_id::random();
    const auto waits = [&] {
      const auto found =
          look("SELECT count(*) FROM rowlock_queue WHERE hold_id = UNHEX('" + waiter.to_string() + "')");
      EXPECT_EQ(look("SELECT has_queue FROM rowlock_lock WHERE name = 'a'"), found);
      return found;
    };
    const store::acquire_item wanted{.name = "a", .lease = lease, .hold = waiter};
    bool entered = false;
    bool clean = succeeds([&] { entered = session().enqueue(wanted, 0us).has_value(); }) && entered;
    EXPECT_TRUE(waits() == 1 || !entered) << "it was said to wait";
    while (waits() == 1 && !HasFailure()) {
      bool given = false;
      clean = succeeds([&] { given = session().hand_over({"a", lease, holder}, 0us).has_value(); }) && clean;
      EXPECT_EQ(holds(holder), waits()) << "one of them has it";
      EXPECT_EQ(holds(waiter), 1 - waits());
      EXPECT_TRUE(waits() == 0 || !given) << "it was said to be handed over";
    }
    if (holds(waiter) == 1) holder = waiter;
    return clean;
  });
}

}  // namespace

}  // namespace rowlock::test
