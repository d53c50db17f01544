// The waiters for which a wake-up makes a client poll.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include "support/background.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

namespace rowlock::test {
namespace {

class waiter_poll_test : public virtual_client_test {
 protected:
  static constexpr std::size_t waiters = 50;

  waiter_poll_test() {
    for (std::size_t i = 0; i < waiters; ++i) {
      const auto name = "n" + std::to_string(i);
      held.push_back(mutex(holding, name).acquire());
      acquire_async(by_hand.get(), mutex{waits, name},
                    [this](acquired one) { got.push_back(std::move(one)); });
    }
    // The client also polls for a waiter that registers after a wake-up was heard. So all waiters register before the
    // first wake-up.
    EXPECT_TRUE(eventually([&] { return waits.stats().waits == waiters; }));
    virtual_time::let_others_sleep();
  }
  static options seldom() {
    auto settings = calm();
    settings.poll_interval = 1h;
    return settings;
  }
  // For how many waiters the client polls until `over` waits are over. No regular poll is due.
  std::size_t asked_for(const std::function<void()>& release, std::size_t over) {
    const auto before = server->asked_about();
    auto released = in_background(release);
    EXPECT_TRUE(soon([&] {
      while (by_hand.size() > 0) by_hand.run_next();
      return got.size() == over && released.wait_for(0s) == std::future_status::ready;
    }));
    return server->asked_about() - before;
  }

  hand_executor by_hand;
  std::vector<acquired> got;
  std::vector<hold> held;
  client holding = new_client(seldom());
  client waits = new_client(seldom());
};

TEST_F(waiter_poll_test, a_hand_over_asks_about_the_waiter_alone) {
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(asked_for([&] { held[i].release(); }, i + 1), 1U);
}

TEST_F(waiter_poll_test, a_grant_by_an_edit_asks_about_the_waiter_alone) {
  faults.refuse("hand_over", 1);
  EXPECT_EQ(asked_for([&] { held.front().release(); }, 1), 1U);
  EXPECT_GT(faults.count("send_wakeups"), 0);
}

TEST_F(waiter_poll_test, a_wake_up_that_names_nobody_asks_about_all) {
  const auto lease = server->snapshot().queues.at("n0").begin()->second.lease;
  const auto before = server->asked_about();
  server->open()->connect()->send_wakeups(std::vector<store::wakeup>{{lease}});
  EXPECT_TRUE(eventually([&] { return server->asked_about() == before + waiters; }));
}

TEST_F(waiter_poll_test, a_named_waiter_is_asked_about_again_when_that_failed) {
  faults.refuse("find", 2);
  held.front().release();
  EXPECT_TRUE(soon([&] {
    while (by_hand.size() > 0) by_hand.run_next();
    return got.size() == 1;
  }));
  EXPECT_TRUE(got.front());
}

// The client asks about each barrier with a separate statement.
TEST_F(waiter_poll_test, a_renewal_waits_for_one_of_many_barriers) {
  constexpr int barriers = 20;
  for (int i = 0; i < barriers; ++i) {
    const auto name = "b" + std::to_string(i);
    arrive_async(by_hand.get(), barrier{waits, name, 2}, [](const arrived&) {});
    ASSERT_TRUE(eventually([&] { return queued(name) == 1; }));
  }
  const auto lease = server->snapshot().queues.at("b0").begin()->second.lease;
  std::mutex mutex;
  std::vector<std::string> calls;
  const auto place_of = [&](const std::string& verb) {
    const std::lock_guard lock{mutex};
    return std::ranges::find(calls, verb) - calls.begin();
  };
  server->on_call([&](store::memory_call& call) {
    bool is_first = false;
    for (const auto* verb : {"queue", "renew"}) {
      if (!call.before(verb)) continue;
      const std::lock_guard lock{mutex};
      calls.emplace_back(verb);
      is_first = calls.size() == 1 && verb == std::string_view{"queue"};
    }
    if (is_first) call.block();
  });
  time.advance(8s);
  server->open()->connect()->send_wakeups(std::vector<store::wakeup>{{lease}});
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  time.advance(3s);  // the renewals are due
  server->unblock();
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock{mutex};
    return std::ranges::count(calls, "queue") >= barriers;
  }));
  EXPECT_LE(place_of("renew"), 3) << "both clients renew";
  server->on_call({});
}

}  // namespace
}  // namespace rowlock::test
