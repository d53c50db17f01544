#include "client/call/acquire_call.hpp"

#include "client/call/async_call.hpp"
#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"

#include <atomic>

namespace rowlock::test {
namespace {

class acquire_call_test : public virtual_client_test {
 protected:
  using async_acquire = client_layer::async_call<client_layer::acquire_call>;
  using wait_ptr = std::shared_ptr<async_acquire>;

  wait_ptr made(model::lock_request request, const client_layer::wait_limit& how_long = {},
                acquire_options how = {}) {
    return std::make_shared<async_acquire>(
        engine(), by_hand.get(), [this](async_acquire& wait) { go_on(wait); }, std::move(request), how_long,
        std::move(how));
  }
  wait_ptr started(const std::string& name, const client_layer::wait_limit& how_long = {},
                   std::stop_token stop = {}) {
    auto wait = made({{name}}, how_long, {.stop = std::move(stop)});
    wait->start();
    return wait;
  }
  const std::shared_ptr<client_layer::engine>& engine() { return primitives::access::engine(db); }
  void go_on(async_acquire& wait) {
    ++continued;
    try {
      taken = wait.take();
    } catch (const error& thrown) {
      failure = thrown.kind();
    }
  }
  bool is_settled() {
    return soon([&] { return by_hand.size() > 0; });
  }

  hand_executor by_hand;
  int continued = 0;
  client_layer::hold_ptr taken;
  std::optional<errc> failure;
  client rival = new_client();
  client db = new_client();
};

TEST_F(acquire_call_test, goes_on_when_the_executor_runs_it_and_not_before) {
  const auto wait = started("a");
  ASSERT_TRUE(is_settled());
  EXPECT_FALSE(holder_of("a").empty());
  EXPECT_EQ(continued, 0);
  by_hand.run_next();
  EXPECT_EQ(continued, 1);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->id().to_string(), holder_of("a"));
  engine()->releaser().release(*taken);
  taken.reset();
}

TEST_F(acquire_call_test, what_cannot_be_right_is_thrown_and_no_continuation_follows) {
  const auto early = made({{"a"}});
  EXPECT_EQ(code_of([&] { made({{"a"}}, {}, {.detect_deadlock = true}); }), errc::invalid_argument);
  db.close();
  EXPECT_EQ(code_of([&] { early->start(); }), errc::closed);
  EXPECT_EQ(code_of([&] { made({{"a"}}); }), errc::closed);
  EXPECT_EQ(by_hand.size(), 0U);
  EXPECT_TRUE(holder_of("a").empty());
}

TEST_F(acquire_call_test, one_that_was_stopped_before_it_began_sends_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const auto wait = started("a", {}, stop.get_token());
  ASSERT_TRUE(is_settled());
  by_hand.run_next();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_EQ(faults.count("acquire"), 0);
}

TEST_F(acquire_call_test, abandoned_while_it_waits_it_leaves_the_queue_and_never_goes_on) {
  const hold held = mutex(rival, "a").acquire();
  const auto wait = started("a");
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  wait->abandon();
  wait->abandon();
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(acquire_call_test, abandoned_when_it_is_granted_it_is_released) {
  const auto wait = started("a");
  ASSERT_TRUE(is_settled());
  wait->abandon();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  by_hand.run_next();
  EXPECT_EQ(continued, 0);
}

TEST_F(acquire_call_test, abandoned_when_it_has_gone_on_it_keeps_its_hold) {
  const auto wait = started("a");
  ASSERT_TRUE(is_settled());
  by_hand.run_next();
  wait->abandon();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->is_valid());
  engine()->releaser().release(*taken);
  taken.reset();
}

TEST_F(acquire_call_test, dropped_by_its_executor_it_is_released) {
  for (const auto min_hold : {0h, 24h}) {
    made({{"a"}}, {}, {.min_hold = min_hold})->start();
    ASSERT_TRUE(is_settled());
    by_hand.drop_next();
    EXPECT_TRUE(soon([&] { return holder_of("a").empty(); })) << "nobody got it, so it does not rest";
  }
  EXPECT_EQ(continued, 0);
}

TEST_F(acquire_call_test, dropped_when_its_latch_is_open_it_has_nothing_to_release) {
  latch opened{db, "opened", 1};
  opened.count_down();
  made({{"opened", model::lock_kind::latch, 1}, model::lock_mode::shared})->start();
  ASSERT_TRUE(is_settled());
  const auto sent = [&] {
    return faults.count("release") + faults.count("hand_over") + faults.count("edit");
  };
  const auto before = sent();
  by_hand.drop_next();
  db.close();  // sends the remaining releases
  EXPECT_EQ(sent(), before);
}

TEST_F(acquire_call_test, its_time_ends_it_without_a_hold) {
  const hold held = mutex(rival, "a").acquire();
  const auto begun = time.now();
  const auto wait = started("a", {true, 2s});
  EXPECT_EQ(engine()->async().end_overdue(begun), begun + 2s);
  ASSERT_TRUE(is_settled());
  EXPECT_GE(time.now(), begun + 2s);
  by_hand.run_next();
  EXPECT_EQ(continued, 1);
  EXPECT_FALSE(taken || failure);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
}

TEST_F(acquire_call_test, a_stop_ends_it_once) {
  const hold held = mutex(rival, "a").acquire();
  std::stop_source stop;
  const auto wait = started("a", {}, stop.get_token());
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  stop.request_stop();
  wait->give_up();
  ASSERT_TRUE(is_settled());
  by_hand.run_next();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_EQ(continued, 1);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(acquire_call_test, a_wait_without_a_limit_has_no_deadline) {
  const hold held = mutex(rival, "a").acquire();
  const auto wait = started("a");
  EXPECT_FALSE(engine()->async().end_overdue(time.now() + 24h));
  EXPECT_EQ(by_hand.size(), 0U);
}

}  // namespace
}  // namespace rowlock::test
