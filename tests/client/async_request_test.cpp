#include "client/async_request.hpp"

#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"

namespace rowlock::test {
namespace {

// Asks nobody: the test answers it.
class fake_request final : public client_layer::async_request {
 public:
  fake_request(std::shared_ptr<client_layer::engine> on, std::stop_token stop, executor where,
               continuation then, std::optional<client_layer::instant> until)
      : async_request(std::move(on), std::move(stop), std::move(where), std::move(then)), until_(until) {}

  client_layer::promised<int> answered;
  bool is_refused = false;     // where it cannot be right
  bool fails = false;          // when it is submitted
  bool leaves_at_once = true;  // otherwise it still waits for its answer
  std::atomic<int> submitted{0};
  std::atomic<int> left{0};
  std::atomic<int> detached{0};
  std::atomic<int> dropped{0};

 private:
  std::optional<client_layer::instant> prepare() override {
    if (is_refused) throw error(errc::invalid_argument, "refused");
    return until_;
  }
  client_layer::promise_state& answer() override { return answered; }
  void submit() override {
    ++submitted;
    if (fails) throw error(errc::contention, "failed");
  }
  bool leave() noexcept override {
    ++left;
    return leaves_at_once && answered.give_up();
  }
  bool detach() noexcept override {
    ++detached;
    return answered.give_up();
  }
  void drop_answer() override {
    ++dropped;
    answered.take();
  }
  std::string described() const override { return "a test"; }

  const std::optional<client_layer::instant> until_;
};

class async_request_test : public virtual_client_test {
 protected:
  using request_ptr = std::shared_ptr<fake_request>;

  request_ptr made(executor where, std::optional<std::chrono::nanoseconds> limit = {},
                   std::stop_token stop = {}) {
    std::optional<client_layer::instant> until;
    if (limit) until = time.now() + *limit;
    return std::make_shared<fake_request>(
        primitives::access::engine(db), std::move(stop), std::move(where),
        [this](client_layer::async_request& over) {
          ++continued;
          auto& answered = static_cast<fake_request&>(over).answered;
          failure = code_if_thrown([&] { got = answered.take(); });
        },
        until);
  }
  request_ptr started(std::optional<std::chrono::nanoseconds> limit = {}, std::stop_token stop = {}) {
    auto request = made(by_hand.get(), limit, std::move(stop));
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

  hand_executor by_hand;
  int continued = 0;
  std::optional<int> got;
  std::optional<errc> failure;
  client db = new_client();
};

TEST_F(async_request_test, its_continuation_runs_once_when_the_executor_runs_it) {
  const auto request = started();
  EXPECT_EQ(request->submitted, 1);
  request->answered.complete(7);
  ASSERT_TRUE(soon([&] { return by_hand.size() == 1; }));
  EXPECT_EQ(continued, 0);
  by_hand.run_next();
  request->abandon();
  EXPECT_EQ(continued, 1);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(request->dropped + request->detached, 0);
}

TEST_F(async_request_test, nothing_follows_what_cannot_be_right) {
  const auto request = made(by_hand.get());
  request->is_refused = true;
  EXPECT_EQ(code_of([&] { request->start(); }), errc::invalid_argument);
  request->abandon();
  EXPECT_EQ(request->submitted + request->detached + request->dropped, 0);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_request_test, one_that_was_stopped_before_is_not_submitted) {
  std::stop_source stop;
  stop.request_stop();
  const auto request = started({}, stop.get_token());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(request->submitted, 0);
  EXPECT_FALSE(got || failure);
}

TEST_F(async_request_test, its_time_or_a_stop_make_it_leave) {
  std::stop_source stop;
  const auto stopped = started({}, stop.get_token());
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(stopped->left, 1);
  const auto late = started(2s);
  ASSERT_TRUE(soon([&] { return late->left == 1; }));
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(continued, 2);
}

TEST_F(async_request_test, one_that_leaves_may_still_get_its_answer) {
  std::stop_source stop;
  const auto request = made(by_hand.get(), {}, stop.get_token());
  request->leaves_at_once = false;
  request->start();
  stop.request_stop();
  EXPECT_EQ(request->left, 1);
  EXPECT_EQ(by_hand.size(), 0U);
  request->answered.complete(7);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(continued, 1);
  EXPECT_EQ(got, 7);
}

TEST_F(async_request_test, a_failure_to_submit_it_goes_to_the_continuation) {
  const auto request = made(by_hand.get());
  request->fails = true;
  EXPECT_NO_THROW(request->start());
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(failure, errc::contention);
}

TEST_F(async_request_test, abandoned_while_it_waits_it_is_detached) {
  const auto request = started();
  request->abandon();
  request->abandon();
  EXPECT_EQ(request->detached, 1);
  EXPECT_FALSE(request->answered.complete(7));
  db.close();
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_request_test, abandoned_when_it_is_settled_its_answer_is_dropped) {
  const auto request = started();
  request->answered.complete(7);
  request->abandon();
  EXPECT_EQ(request->dropped, 1);
  db.close();
  // The executor may have been called before.
  while (by_hand.size() > 0) by_hand.run_next();
  EXPECT_EQ(continued, 0);
}

TEST_F(async_request_test, dropped_by_its_executor_its_answer_is_dropped) {
  const auto request = started();
  request->answered.complete(7);
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  by_hand.drop_next();
  EXPECT_EQ(request->dropped, 1);
  EXPECT_EQ(continued, 0);
}

TEST_F(async_request_test, refused_by_its_executor_its_answer_is_dropped) {
  const auto request = made([](rowlock::task) { throw std::runtime_error("no room"); });
  request->start();
  request->answered.complete(7);
  EXPECT_TRUE(eventually([&] { return request->dropped == 1; }));
  EXPECT_EQ(continued, 0);
}

TEST_F(async_request_test, a_failure_that_nobody_takes_is_dropped_too) {
  const auto request = started();
  request->answered.fail(std::make_exception_ptr(error(errc::mismatch, "another kind")));
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_NO_THROW(by_hand.drop_next());
  EXPECT_EQ(request->dropped, 1);
}

TEST_F(async_request_test, a_client_that_closes_refuses_it) {
  const auto request = started();
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(failure, errc::closed);
  const auto late = made(by_hand.get());
  EXPECT_EQ(code_of([&] { late->start(); }), errc::closed);
}

}  // namespace
}  // namespace rowlock::test
