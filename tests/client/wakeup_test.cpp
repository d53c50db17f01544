// If the database does not notify of changes, a client with waiters polls for them, and no other client does.
#include "client/client_test.hpp"

namespace rowlock::test {
namespace {

class wakeup_test : public virtual_client_test {
 protected:
  wakeup_test() {
    mutex(holding, "a").acquire().release();
    mutex(waits, "b").acquire().release();
  }
  // With these options only wake-ups can bring a hand-over in time.
  static options seldom() {
    auto settings = calm();
    settings.poll_interval = 1h;
    return settings;
  }
  int asked() const { return faults.count("poll_wakeups"); }

  client holding = (server->tell_nobody(), new_client(seldom()));
  client waits = new_client(seldom());
};

TEST_F(wakeup_test, nobody_polls_where_nobody_waits) {
  const hold held = mutex(holding, "a").acquire();
  for (int i = 0; i < 50; ++i) advance(100ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(asked(), 0);
}

TEST_F(wakeup_test, a_waiter_hears_of_its_grant_within_150_ms) {
  hold held = mutex(holding, "a").acquire();
  auto waiter = waiting(waits, "a");
  for (int i = 0; i < 20; ++i) {
    advance(100ms);
    std::this_thread::sleep_for(3ms);
  }
  ASSERT_FALSE(waiter.is_over());
  held.release();
  ASSERT_TRUE(eventually([&] { return !holder_of("a").empty() && queued("a") == 0; }));
  advance(150ms);
  EXPECT_TRUE(eventually([&] { return waiter.is_over(); }));
}

// Behind a pooler changes are not counted. If each change could concern a holder, the client would check all holds each
// time.
TEST_F(wakeup_test, where_changes_are_not_counted_waiters_are_polled_for_and_holds_are_not) {
  server->count_nothing();
  std::vector<hold> others;
  for (int i = 0; i < 20; ++i) others.push_back(mutex(waits, "other" + std::to_string(i)).acquire());
  hold held = mutex(holding, "a").acquire();
  auto waiter = waiting(waits, "a");
  const auto before = server->asked_about();
  for (int i = 0; i < 200; ++i) advance(10ms);
  EXPECT_LE(server->asked_about() - before, 60U);
  EXPECT_GE(server->asked_about() - before, 5U);
  ASSERT_FALSE(waiter.is_over());
  held.release();
  EXPECT_TRUE(soon([&] { return waiter.is_over(); }));
}

TEST_F(wakeup_test, one_poll_serves_all_and_is_seldom) {
  const hold held = mutex(holding, "a").acquire();
  std::vector<attempt> waiters;
  for (int i = 0; i < 8; ++i) waiters.push_back(waiting(waits, "a"));
  // Over ten seconds the client asks at most once in 70 ms, however many requests wait.
  const auto before = asked();
  for (int i = 0; i < 1000; ++i) {
    advance(10ms);
    if (i % 20 == 0) std::this_thread::sleep_for(3ms);
  }
  EXPECT_LE(asked() - before, 150);
  EXPECT_GE(asked() - before, 10);
  for (auto& one : waiters) one.stop();
}

TEST_F(wakeup_test, polls_end_with_the_last_waiter) {
  const hold held = mutex(holding, "a").acquire();
  auto waiter = waiting(waits, "a");
  ASSERT_TRUE(soon([&] { return asked() > 3; }));
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  ASSERT_TRUE(soon([&] { return queued("a") == 0; }));
  advance(200ms);
  std::this_thread::sleep_for(20ms);
  const auto before = asked();
  for (int i = 0; i < 20; ++i) {
    advance(100ms);
    std::this_thread::sleep_for(3ms);
  }
  EXPECT_LE(asked() - before, 1) << "one may have been on its way";
}

TEST_F(wakeup_test, a_hand_over_inside_one_client_is_not_polled_for) {
  hold held = mutex(holding, "a").acquire();
  auto waiter = waiting(holding, "a");
  held.release();
  EXPECT_TRUE(eventually([&] { return waiter.is_over(); })) << "while no time passes";
}

}  // namespace
}  // namespace rowlock::test
