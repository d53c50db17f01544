// An arrival that no thread waits for.
#include "client/call/arrive.hpp"
#include "client/call/async_call.hpp"
#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

class async_arrival_test : public virtual_client_test {
 protected:
  using async_arrival = client_layer::async_call<client_layer::arrival>;
  using wait_ptr = std::shared_ptr<async_arrival>;
  using number = std::optional<model::token>;

  static model::lock_definition barrier_of(std::int64_t members) {
    return {"b", model::lock_kind::barrier, members};
  }
  wait_ptr started(const client_layer::wait_limit& how_long = {}, std::stop_token stop = {},
                   std::int64_t members = 2) {
    auto wait = std::make_shared<async_arrival>(
        primitives::access::engine(db), by_hand.get(), [this](async_arrival& over) { go_on(over); },
        barrier_of(members), how_long, std::move(stop));
    wait->start();
    return wait;
  }
  wait_ptr waiting(const client_layer::wait_limit& how_long = {}, std::stop_token stop = {}) {
    const auto before = db.stats().waits;
    auto wait = started(how_long, std::move(stop));
    EXPECT_TRUE(knows_places(db, before + 1));
    return wait;
  }
  void go_on(async_arrival& over) {
    ++continued;
    try {
      got = over.take();
    } catch (const error& thrown) {
      failure = thrown.kind();
      unknown = thrown.outcome_unknown();
    }
  }
  bool is_settled() {
    return soon([&] { return by_hand.size() > 0; });
  }
  void expect_over() {
    ASSERT_TRUE(is_settled());
    by_hand.run_next();
    EXPECT_EQ(continued, 1);
    EXPECT_EQ(by_hand.size(), 0U);
  }
  // The other member arrives with a thread.
  std::future<number> arriving(std::int64_t members = 2) {
    return in_background([this, members] {
      return client_layer::arrive(*primitives::access::engine(other), barrier_of(members), {}, {});
    });
  }
  bool is_over(const std::future<number>& call) {
    return soon([&] { return call.wait_for(0s) == std::future_status::ready; });
  }
  bool is_clean() {
    return soon([&] {
      const auto tables = server->snapshot();
      return queued("b") == 0 && (!tables.permits.contains("b") || tables.permits.at("b").empty());
    });
  }

  hand_executor by_hand;
  int continued = 0;
  number got;
  std::optional<errc> failure;
  bool unknown = false;
  client other = new_client();
  client db = new_client();
};

TEST_F(async_arrival_test, goes_on_with_the_number_of_the_others) {
  const auto wait = waiting();
  auto last = arriving();
  ASSERT_TRUE(is_over(last));
  expect_over();
  EXPECT_EQ(got, last.get());
  EXPECT_TRUE(is_clean());
}

TEST_F(async_arrival_test, one_that_was_stopped_before_it_began_arrives_nowhere) {
  std::stop_source stop;
  stop.request_stop();
  const auto wait = started({}, stop.get_token());
  expect_over();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_FALSE(server->snapshot().locks.contains("b"));
}

TEST_F(async_arrival_test, its_time_breaks_the_generation) {
  const auto begun = time.now();
  const auto wait = started({true, 2s}, {}, 3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  auto another = arriving(3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 2; }));
  expect_over();
  EXPECT_GE(time.now(), begun + 2s);
  EXPECT_FALSE(got || failure);
  ASSERT_TRUE(is_over(another));
  EXPECT_EQ(code_of([&] { another.get(); }), errc::broken_barrier);
  EXPECT_TRUE(is_clean());
}

TEST_F(async_arrival_test, a_stop_breaks_the_generation_once) {
  std::stop_source stop;
  const auto wait = waiting({}, stop.get_token());
  faults.hang("edit");
  stop.request_stop();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  wait->give_up();
  server->unblock();
  expect_over();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_TRUE(is_clean());
}

// Only the database knows whether the others had arrived.
TEST_F(async_arrival_test, goes_on_if_all_had_arrived_when_it_was_given_up) {
  waiting()->abandon();  // makes the barrier exist
  ASSERT_TRUE(is_clean());
  for (const bool by_stop : {true, false}) {
    continued = 0;
    got.reset();
    std::stop_source stop;
    faults.hang_answer("edit");
    const auto wait = started({true, 2s}, stop.get_token());
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    auto last = arriving();
    ASSERT_TRUE(eventually([&] { return last.wait_for(0s) == std::future_status::ready; }));
    by_stop ? static_cast<void>(stop.request_stop()) : advance(2s);
    server->unblock();
    expect_over();
    ASSERT_TRUE(got);
    EXPECT_EQ(got, last.get());
    EXPECT_TRUE(is_clean());
  }
}

TEST_F(async_arrival_test, without_an_answer_it_is_unknown_whether_all_had_arrived) {
  const auto wait = waiting({true, 2s});
  faults.cut(true);
  const auto begun = time.now();
  expect_over();
  EXPECT_EQ(failure, errc::unreachable);
  EXPECT_TRUE(unknown);
  EXPECT_GE(time.now(), begun + 2s + primitives::access::engine(db)->environment().longest_call());
  faults.cut(false);
  EXPECT_TRUE(is_clean()) << "it breaks when the database is back";
}

TEST_F(async_arrival_test, waits_for_the_answer_no_longer_than_a_call_may_take) {
  auto settings = calm();
  settings.connect_timeout = settings.statement_timeout = 20ms;
  db = new_client(settings);
  const auto wait = waiting({true, 2s});
  faults.cut(true);
  advance(2s);
  virtual_time::let_others_sleep();
  EXPECT_EQ(by_hand.size(), 0U);
  advance(60ms);
  EXPECT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  faults.cut(false);
  EXPECT_TRUE(is_clean());
}

TEST_F(async_arrival_test, a_lost_answer_is_one_arrival) {
  faults.lose_answer("edit");
  const auto wait = started();
  ASSERT_TRUE(soon([&] { return queued("b") == 1; }));
  auto last = arriving();
  ASSERT_TRUE(is_over(last));
  expect_over();
  EXPECT_EQ(got, last.get());
}

TEST_F(async_arrival_test, abandoned_while_it_waits_it_breaks_the_generation_and_never_goes_on) {
  const auto wait = started({}, {}, 3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  auto another = arriving(3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 2; }));
  wait->abandon();
  ASSERT_TRUE(is_over(another));
  EXPECT_EQ(code_of([&] { another.get(); }), errc::broken_barrier);
  EXPECT_TRUE(is_clean());
  db.close();
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_arrival_test, abandoned_before_it_was_sent_it_breaks_the_generation_too) {
  auto another = arriving(3);
  ASSERT_TRUE(knows_places(other));
  faults.cut(true);
  started({}, {}, 3)->abandon();
  faults.cut(false);
  ASSERT_TRUE(is_over(another));
  EXPECT_EQ(code_of([&] { another.get(); }), errc::broken_barrier);
}

TEST_F(async_arrival_test, abandoned_when_all_had_arrived_it_leaves_nothing_and_the_others_go_on) {
  faults.hang_answer("edit", 1);
  const auto wait = started();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto last = arriving();
  ASSERT_TRUE(eventually([&] { return last.wait_for(0s) == std::future_status::ready; }));
  wait->abandon();
  server->unblock();
  EXPECT_TRUE(last.get());
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_arrival_test, abandoned_after_it_was_given_up_it_still_breaks_the_generation) {
  std::stop_source stop;
  const auto wait = waiting({}, stop.get_token());
  faults.cut(true);
  stop.request_stop();
  wait->abandon();
  faults.cut(false);
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_arrival_test, dropped_by_its_executor_it_never_goes_on) {
  const auto wait = waiting();
  auto last = arriving();
  ASSERT_TRUE(is_over(last));
  EXPECT_TRUE(last.get());
  ASSERT_TRUE(is_settled());
  by_hand.drop_next();
  EXPECT_EQ(continued, 0);
  EXPECT_TRUE(is_clean());
}

TEST_F(async_arrival_test, a_member_that_dies_breaks_it) {
  auto vanishing = std::make_optional(new_client());
  auto dead = in_background([on = *vanishing] {
    return client_layer::arrive(*primitives::access::engine(on), barrier_of(3), {}, {});
  });
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  const auto wait = started({}, {}, 3);
  ASSERT_TRUE(eventually([&] { return queued("b") == 2; }));
  vanishing->close();
  EXPECT_EQ(code_of([&] { dead.get(); }), errc::closed);
  expect_over();
  EXPECT_EQ(failure, errc::broken_barrier);
}

TEST_F(async_arrival_test, a_lost_lease_breaks_it) {
  const auto wait = waiting();
  faults.cut(true);
  advance(40s);
  faults.cut(false);
  expect_over();
  EXPECT_EQ(failure, errc::broken_barrier);
}

TEST_F(async_arrival_test, a_client_that_closes_ends_it_and_breaks_the_generation) {
  const auto wait = waiting();
  db.close();
  expect_over();
  EXPECT_EQ(failure, errc::closed);
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(code_of([&] { started(); }), errc::closed);
}

TEST_F(async_arrival_test, is_told_of_the_close_also_when_the_database_hangs) {
  db = new_impatient_client();
  faults.hang("edit");
  const auto wait = started();
  close_while_the_database_hangs(db, [&] { return by_hand.size() == 1; });
  by_hand.run_next();
  EXPECT_EQ(failure, errc::closed);
}

}  // namespace
}  // namespace rowlock::test
