#include "client/call/async_call.hpp"

#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "client/fake_call.hpp"
#include "primitives/access.hpp"

namespace rowlock::test {
namespace {

class async_call_test : public virtual_client_test {
 protected:
  using async_fake = client_layer::async_call<fake_call>;
  using request_ptr = std::shared_ptr<async_fake>;

  request_ptr made(executor where) {
    return std::make_shared<async_fake>(
        primitives::access::engine(db), std::move(where),
        [this](async_fake& over) {
          ++continued;
          failure = code_if_thrown([&] { got = over.take(); });
        },
        asked);
  }
  request_ptr started() {
    auto request = made(by_hand.get());
    request->start();
    return request;
  }
  static std::optional<errc> code_if_thrown(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& thrown) {
      return thrown.kind();
    }
    return {};
  }

  fake asked;
  hand_executor by_hand;
  int continued = 0;
  std::optional<int> got;
  std::optional<errc> failure;
  client db = new_client();
};

TEST_F(async_call_test, its_continuation_runs_once_when_the_executor_runs_it) {
  const auto request = started();
  EXPECT_EQ(asked.submitted, 1);
  asked.answered.complete(7);
  ASSERT_TRUE(soon([&] { return by_hand.size() == 1; }));
  EXPECT_EQ(continued, 0);
  by_hand.run_next();
  request->abandon();
  EXPECT_EQ(continued, 1);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(asked.dropped, 0);
}

TEST_F(async_call_test, nothing_follows_what_cannot_be_right) {
  asked.is_refused = true;
  EXPECT_EQ(code_of([&] { made(by_hand.get()); }), errc::invalid_argument);
  EXPECT_EQ(asked.submitted + asked.dropped, 0);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_call_test, one_that_was_not_started_is_not_dropped) {
  made(by_hand.get())->abandon();
  EXPECT_EQ(asked.submitted + asked.dropped, 0);
}

TEST_F(async_call_test, one_that_was_stopped_before_is_not_submitted) {
  std::stop_source stop;
  stop.request_stop();
  asked.stop = stop.get_token();
  const auto request = started();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(asked.submitted, 0);
  EXPECT_EQ(got, -1);
}

TEST_F(async_call_test, a_stop_makes_it_leave) {
  std::stop_source stop;
  asked.stop = stop.get_token();
  const auto stopped = started();
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(asked.left, 1);
  EXPECT_EQ(got, -1);
}

TEST_F(async_call_test, its_time_makes_it_leave) {
  asked.until = time.now() + 2s;
  const auto late = started();
  ASSERT_TRUE(soon([&] { return asked.left == 1; }));
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(got, -1);
}

TEST_F(async_call_test, one_that_leaves_may_still_get_its_answer) {
  std::stop_source stop;
  asked.stop = stop.get_token();
  asked.leaves_at_once = false;
  const auto request = started();
  stop.request_stop();
  EXPECT_EQ(asked.left, 1);
  EXPECT_EQ(by_hand.size(), 0U);
  asked.answered.complete(7);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(continued, 1);
  EXPECT_EQ(got, 7);
}

TEST_F(async_call_test, one_that_leaves_may_wait_until_another_time) {
  std::stop_source stop;
  asked.stop = stop.get_token();
  asked.leaves_at_once = false;
  const auto request = started();
  asked.until = time.now() + 2s;
  stop.request_stop();
  EXPECT_EQ(asked.left, 1);
  asked.leaves_at_once = true;
  ASSERT_TRUE(soon([&] { return asked.left == 2; }));
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(got, -1);
}

TEST_F(async_call_test, a_failure_to_submit_it_goes_to_the_continuation) {
  asked.fails = true;
  EXPECT_NO_THROW(started());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(failure, errc::contention);
}

TEST_F(async_call_test, abandoned_while_it_waits_it_is_dropped) {
  const auto request = started();
  request->abandon();
  request->abandon();
  EXPECT_EQ(asked.dropped, 1);
  EXPECT_FALSE(asked.answered.complete(7));
  db.close();
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_call_test, abandoned_when_it_is_settled_it_is_dropped_too) {
  const auto request = started();
  asked.answered.complete(7);
  request->abandon();
  EXPECT_EQ(asked.dropped, 1);
  db.close();
  // The executor may have been called before.
  while (by_hand.size() > 0) by_hand.run_next();
  EXPECT_EQ(continued, 0);
}

TEST_F(async_call_test, dropped_by_its_executor_it_is_dropped) {
  started();
  asked.answered.complete(7);
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  by_hand.drop_next();
  EXPECT_EQ(asked.dropped, 1);
  EXPECT_EQ(continued, 0);
}

TEST_F(async_call_test, refused_by_its_executor_it_is_dropped) {
  made([](rowlock::task) { throw std::runtime_error("no room"); })->start();
  asked.answered.complete(7);
  EXPECT_TRUE(eventually([&] { return asked.dropped == 1; }));
  EXPECT_EQ(continued, 0);
}

TEST_F(async_call_test, a_client_that_closes_refuses_it) {
  const auto request = started();
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(failure, errc::closed);
  EXPECT_EQ(asked.dropped, 1) << "what is still under way ends";
  EXPECT_EQ(code_of([&] { made(by_hand.get())->start(); }), errc::closed);
}

TEST_F(async_call_test, one_that_is_made_in_any_case_is_told_on_this_thread_if_the_client_is_closed) {
  db.close();
  const auto request = made(by_hand.get());
  request->start_anyway();
  EXPECT_EQ(asked.submitted, 1);
  ASSERT_EQ(by_hand.size(), 1U);
  by_hand.run_next();
  EXPECT_EQ(got, -1);
}

}  // namespace
}  // namespace rowlock::test
