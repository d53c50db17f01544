#include "client/base/async_waiters.hpp"

#include "client/call/acquire_call.hpp"
#include "client/call/async_call.hpp"
#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"

#include <atomic>
#include <vector>

namespace rowlock::test {
namespace {

class async_waiters_test : public virtual_client_test {
 protected:
  using async_acquire = client_layer::async_call<client_layer::acquire_call>;
  using wait_ptr = std::shared_ptr<async_acquire>;

  // Waits for the lock, which a rival holds.
  wait_ptr waiting(const std::string& name, std::optional<std::chrono::nanoseconds> limit = {}) {
    const auto before = queued(name);
    auto wait = made(name, limit);
    wait->start();
    EXPECT_TRUE(eventually([&] { return queued(name) == before + 1; }));
    return wait;
  }
  wait_ptr made(const std::string& name, std::optional<std::chrono::nanoseconds> limit = {}) {
    return std::make_shared<async_acquire>(
        engine(), by_hand.get(),
        [this, name](async_acquire& wait) {
          ended.push_back(name);
          try {
            EXPECT_EQ(wait.take(), nullptr);
          } catch (const error& thrown) {
            failure = thrown.kind();
          }
        },
        model::lock_request{{name}}, client_layer::wait_limit{true, limit}, acquire_options{});
  }
  const std::shared_ptr<client_layer::engine>& engine() { return primitives::access::engine(db); }
  void run(std::size_t count) {
    ASSERT_TRUE(soon([&] { return by_hand.size() == count; }));
    while (by_hand.size() > 0) by_hand.run_next();
  }

  hand_executor by_hand;
  std::vector<std::string> ended;
  std::optional<errc> failure;
  client rival = new_client();
  hold held_a = mutex(rival, "a").acquire();
  hold held_b = mutex(rival, "b").acquire();
  client db = new_client();
};

TEST_F(async_waiters_test, ends_the_waits_whose_time_is_up_and_says_when_the_next_one_is) {
  const auto now = time.now();
  waiting("a", 20s);
  waiting("b", 10s);
  auto& waiters = engine()->async();
  EXPECT_EQ(waiters.end_overdue(now + 10s - 1ns), now + 10s);
  EXPECT_EQ(waiters.end_overdue(now + 10s), now + 20s);
  run(1);
  EXPECT_THAT(ended, testing::ElementsAre("b"));
  EXPECT_FALSE(waiters.end_overdue(now + 20s));
  run(1);
  EXPECT_THAT(ended, testing::ElementsAre("b", "a"));
  EXPECT_FALSE(failure);
}

TEST_F(async_waiters_test, a_wait_without_a_limit_is_never_overdue) {
  const auto wait = waiting("a");
  EXPECT_FALSE(engine()->async().end_overdue(time.now() + 24h));
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(async_waiters_test, a_wait_may_get_another_deadline) {
  const auto now = time.now();
  const auto wait = waiting("a", 10s);
  auto& waiters = engine()->async();
  waiters.set_deadline(*wait, now + 20s);
  EXPECT_EQ(waiters.end_overdue(now + 10s), now + 20s);
  EXPECT_EQ(by_hand.size(), 0U);
  EXPECT_FALSE(waiters.end_overdue(now + 20s));
  run(1);
  EXPECT_THAT(ended, testing::ElementsAre("a"));
  waiters.set_deadline(*wait, now + 30s);
  EXPECT_FALSE(waiters.end_overdue(now + 20s)) << "it is settled";
}

TEST_F(async_waiters_test, a_wait_that_was_removed_goes_with_its_last_reference_in_this_thread) {
  const auto kept = std::make_shared<int>();
  auto wait = std::make_shared<async_acquire>(
      engine(), by_hand.get(), [kept](async_acquire&) {}, model::lock_request{{"a"}},
      client_layer::wait_limit{}, acquire_options{});
  client_layer::async_waiters waiters;
  EXPECT_TRUE(waiters.add(wait, {}));
  auto& raw = *wait;
  wait.reset();
  EXPECT_EQ(kept.use_count(), 2);
  waiters.remove(raw);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(async_waiters_test, close_refuses_the_waits_that_are_left_and_every_later_one) {
  waiting("a");
  waiting("b", 10s);
  engine()->async().close();
  run(2);
  EXPECT_EQ(failure, errc::closed);
  const auto late = made("a");
  EXPECT_FALSE(engine()->async().add(late, {}));
}

TEST_F(async_waiters_test, calls_executors_in_one_thread_and_a_slow_one_delays_only_those_behind_it) {
  std::atomic<bool> may_go_on{false};
  std::atomic<int> called{0};
  std::vector<std::thread::id> threads(2);
  std::vector<wait_ptr> waits;
  for (std::size_t i = 0; i < 2; ++i) {
    waits.push_back(std::make_shared<async_acquire>(
        engine(),
        [&, i](rowlock::task) {
          threads[i] = std::this_thread::get_id();
          ++called;
          if (i == 0) eventually([&] { return may_go_on.load(); });
        },
        [](async_acquire&) {}, model::lock_request{{"free " + std::to_string(i)}}, client_layer::wait_limit{},
        acquire_options{}));
    waits.back()->start();
    ASSERT_TRUE(eventually([&] { return called == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return !holder_of("free 1").empty(); })) << "locks are granted meanwhile";
  mutex(db, "another").acquire().release();
  EXPECT_EQ(called, 1);
  may_go_on = true;
  EXPECT_TRUE(eventually([&] { return called == 2; }));
  EXPECT_EQ(threads[0], threads[1]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

}  // namespace
}  // namespace rowlock::test
