#include "client/client_test.hpp"

#include "support/background.hpp"

#include <atomic>

namespace rowlock::test {
namespace {

class mutex_test : public client_test {
 protected:
  client db = new_client();
};

TEST_P(mutex_test, is_granted_and_given_back) {
  mutex wanted{db, "a"};
  hold held = wanted.acquire();
  EXPECT_TRUE(held);
  EXPECT_EQ(held.name(), "a");
  EXPECT_EQ(held.id().to_string(), holder_of("a"));
  EXPECT_EQ(held.token(), token_of("a"));
  EXPECT_GT(held.token(), fencing_token{});
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_FALSE(held);
  EXPECT_FALSE(is_held("a"));
  EXPECT_EQ(held.loss(), loss::none);
}

TEST_P(mutex_test, try_acquire_is_empty_while_somebody_holds_it) {
  mutex wanted{db, "a"};
  auto held = wanted.try_acquire();
  ASSERT_TRUE(held);
  EXPECT_FALSE(wanted.try_acquire()) << "also to its own client";
  const client other = new_client();
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  held.release();
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

TEST_P(mutex_test, try_acquire_for_gives_up_and_leaves_nothing_behind) {
  const hold held = mutex(db, "a").acquire();
  const client other = new_client();
  EXPECT_FALSE(mutex(other, "a").try_acquire_for(50ms));
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_P(mutex_test, try_acquire_for_waits_for_its_turn) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  mutex wanted{db, "a"};
  auto later = in_background([&] { return wanted.try_acquire_for(20s); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  held.reset();
  const auto got = later.get();
  ASSERT_TRUE(got);
  EXPECT_EQ(got.id().to_string(), holder_of("a"));
}

TEST_P(mutex_test, try_acquire_until_a_time_that_has_passed_does_not_wait) {
  mutex wanted{db, "a"};
  const auto past = std::chrono::system_clock::now() - 1h;
  const auto held = wanted.try_acquire_until(past);
  ASSERT_TRUE(held);
  EXPECT_FALSE(wanted.try_acquire_until(past));
  EXPECT_EQ(queued("a"), 0U);
}

TEST_P(mutex_test, a_cancelled_acquire_throws_and_leaves_nothing_behind) {
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(db, "a");
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
}

TEST_P(mutex_test, a_cancelled_timed_acquire_is_empty) {
  const hold held = mutex(db, "a").acquire();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(mutex(db, "a").try_acquire_for(1h, {.stop = stop.get_token()}));
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
}

TEST_P(mutex_test, what_is_granted_after_its_caller_gave_up_is_given_back) {
  // The lock is free, and so it may be granted before anybody notices that the caller has given up.
  for (int i = 0; i < 20; ++i) {
    attempt asked{db, "a"};
    asked.stop();
    try {
      std::ignore = asked.take();
    } catch (const error& stopped) {
      EXPECT_EQ(stopped.code(), errc::cancelled);
    }
  }
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(mutex_test, an_acquire_that_was_stopped_before_it_began_asks_for_nothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.stop = stop.get_token()}); }),
            errc::cancelled);
  EXPECT_FALSE(mutex(db, "a").try_acquire_for(1h, {.stop = stop.get_token()}));
  EXPECT_TRUE(admin(db).list().empty());
}

TEST_P(mutex_test, hands_over_in_order_within_one_client) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  auto first = waiting(db, "a");
  auto second = waiting(db, "a");
  auto third = waiting(db, "a");
  fencing_token last = held->token();
  held.reset();
  std::size_t others = 2;
  for (auto* next : {&first, &second, &third}) {
    const hold got = next->take();
    EXPECT_EQ(queued("a"), others--);
    EXPECT_EQ(got.id().to_string(), holder_of("a"));
    EXPECT_GT(got.token(), last);
    last = got.token();
  }
}

TEST_P(mutex_test, hands_over_in_order_among_clients) {
  const client other = new_client();
  const client third = new_client();
  // On SQLite the first transaction of each session raises the next tokens.
  for (const client& client : {db, other, third}) mutex(client, "first").acquire().release();
  auto held = std::make_optional(mutex(db, "a").acquire());
  auto one = waiting(other, "a");
  auto two = waiting(third, "a");
  auto three = waiting(other, "a");
  fencing_token last = held->token();
  held.reset();
  for (auto* next : {&one, &two, &three}) {
    const hold got = next->take();
    EXPECT_EQ(got.token().value(), last.value() + 1);
    last = got.token();
  }
}

TEST_P(mutex_test, try_acquire_does_not_overtake_a_waiter) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  const client other = new_client();
  auto waiter = waiting(other, "a");
  held.reset();
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  EXPECT_TRUE(waiter.take());
}

TEST_P(mutex_test, skips_a_waiter_whose_client_closes) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  client leaving = new_client();
  auto first = waiting(leaving, "a");
  auto second = waiting(db, "a");
  leaving.close();
  EXPECT_EQ(code_of([&] { std::ignore = first.take(); }), errc::closed);
  held.reset();
  EXPECT_TRUE(second.take());
}

TEST_P(mutex_test, takes_over_from_a_client_that_vanished) {
  const client vanished = new_client();
  const hold lost = mutex(vanished, "a").acquire();
  // The lease has expired but was not killed: the next request kills it.
  fixture().expire(lease_of("a"));
  const auto got = mutex(db, "a").try_acquire();
  ASSERT_TRUE(got);
  EXPECT_GT(got.token(), lost.token());
}

TEST_P(mutex_test, a_waiter_takes_over_when_the_holders_lease_runs_out) {
  const client vanished = new_client();
  const hold lost = mutex(vanished, "a").acquire();
  auto waiter = waiting(db, "a");
  fixture().expire(lease_of("a"));
  EXPECT_TRUE(waiter.take());
}

TEST_P(mutex_test, names_are_exact) {
  const hold one = mutex(db, "a").acquire();
  for (const char* name : {"a ", "A", "aa", "a/", "a%", "a_", " a", "\xC3\xA4"}) {
    EXPECT_TRUE(mutex(db, name).try_acquire()) << name;
  }
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  const std::string longest(512, 'a');
  const hold two = mutex(db, longest).acquire();
  EXPECT_TRUE(mutex(db, longest.substr(1)).try_acquire());
}

TEST_P(mutex_test, works_with_the_standards_locks) {
  mutex a{db, "a"};
  mutex b{db, "b"};
  {
    const std::scoped_lock both{a, b};
    EXPECT_TRUE(is_held("a"));
    EXPECT_TRUE(is_held("b"));
    EXPECT_FALSE(mutex(db, "a").try_lock());
  }
  EXPECT_TRUE(eventually([&] { return !is_held("a") && !is_held("b"); }));
  std::unique_lock lock{a, 20s};
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(a.current_hold().id().to_string(), holder_of("a"));
  lock.unlock();
  std::unique_lock tried{a, std::try_to_lock};
  EXPECT_TRUE(tried.owns_lock());
  std::unique_lock until{b, std::chrono::steady_clock::now() + 20s};
  EXPECT_TRUE(until.owns_lock());
}

TEST_P(mutex_test, two_scoped_locks_in_opposite_order_do_not_deadlock) {
  mutex a{db, "a"};
  mutex b{db, "b"};
  const auto take_both = [](mutex& one, mutex& other) {
    for (int round = 0; round < 5; ++round) const std::scoped_lock both{one, other};
    return true;
  };
  std::future<bool> done[] = {in_background([&] { return take_both(b, a); }),
                              in_background([&] { return take_both(a, b); })};
  for (auto& each : done) {
    if (each.wait_for(60s) != std::future_status::ready) {
      db.close();  // otherwise a waiting thread would not end
      FAIL() << "both wait";
    }
    EXPECT_TRUE(each.get());
  }
}

TEST_P(mutex_test, lock_twice_in_one_thread_throws_deadlock) {
  mutex a{db, "a"};
  a.lock();
  EXPECT_EQ(code_of([&] { a.lock(); }), errc::deadlock);
  EXPECT_TRUE(is_held("a")) << "and stays locked";
  a.unlock();
  EXPECT_FALSE(is_held("a"));
}

TEST_P(mutex_test, unlock_and_current_hold_need_a_lock_of_this_thread) {
  mutex a{db, "a"};
  EXPECT_EQ(code_of([&] { a.unlock(); }), errc::hold_lost);
  EXPECT_EQ(code_of([&] { a.current_hold(); }), errc::hold_lost);
  a.lock();
  std::jthread{[&] { EXPECT_EQ(code_of([&] { a.unlock(); }), errc::hold_lost); }}.join();
  EXPECT_TRUE(a.current_hold());
}

TEST_P(mutex_test, its_destructor_unlocks_but_lets_holds_live) {
  hold acquired;
  {
    mutex a{db, "a"};
    mutex b{db, "b"};
    a.lock();
    acquired = b.acquire();
  }
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
  EXPECT_TRUE(is_held("b"));
  EXPECT_TRUE(acquired);
}

TEST_P(mutex_test, tokens_rise_through_all_ways_of_ending_a_hold) {
  mutex a{db, "a"};
  fencing_token last;
  const auto next = [&](hold held) {
    EXPECT_GT(held.token(), last);
    last = held.token();
    return held;
  };
  next(a.acquire()).release();
  next(a.acquire({.ttl = 30s})).release();
  auto forced = next(a.acquire());
  EXPECT_TRUE(admin{db}.release("a"));
  auto again = next(a.acquire());
  again.release();
  fixture().age("a", 1h);
  EXPECT_EQ(admin{db}.collect(1min), 1);
  std::ignore = next(a.acquire());
}

TEST_P(mutex_test, many_threads_never_hold_it_together) {
  const client other = new_client();
  int counter = 0;  // not atomic on purpose
  {
    std::vector<std::jthread> workers;
    for (const auto& each : {db, other, db, other}) {
      workers.emplace_back([&counter, each] {
        mutex a{each, "a"};
        for (int round = 0; round < 10; ++round) {
          const hold held = a.acquire();
          const int read = counter;
          std::this_thread::yield();
          counter = read + 1;
        }
      });
    }
  }
  EXPECT_EQ(counter, 40);
}

TEST_P(mutex_test, many_threads_that_only_try_never_hold_it_together) {
  const client other = new_client();
  std::atomic<int> inside = 0;
  std::atomic<int> granted = 0;
  {
    std::vector<std::jthread> workers;
    for (const auto& each : {db, other, db, other}) {
      workers.emplace_back([&, each] {
        mutex a{each, "a"};
        while (granted < 40) {
          hold held;
          try {
            held = a.try_acquire();
          } catch (const error& refused) {
            // The machine may pause for as long as a try waits for the row.
            if (refused.code() != errc::contention) throw;
          }
          if (!held) continue;
          EXPECT_EQ(inside.fetch_add(1), 0);
          std::ignore = admin{each}.show("a");  // takes a round trip, so that others can come in between
          ++granted;
          --inside;
        }
      });
    }
  }
  EXPECT_EQ(queued("a"), 0U);
}

TEST_P(mutex_test, any_number_of_waiters_share_two_connections) {
  auto settings = patient();
  settings.connections = 2;
  // connect(), which makes two connections, asks for the URL, and then each other connection does. The memory store has
  // no URL.
  std::atomic<int> asked{0};
  settings.prefix = fixture().options().prefix;
  const auto url = [&asked, text = fixture().url()] {
    ++asked;
    return text;
  };
  const client narrow = fixture().url().empty() ? new_client(settings) : connect(url, settings);
  std::vector<hold> held;
  std::vector<attempt> waiters;
  for (int i = 0; i < 30; ++i) {
    const auto name = "a" + std::to_string(i);
    held.push_back(mutex(db, name).acquire());
    waiters.push_back(waiting(narrow, name));
  }
  if (!fixture().url().empty()) {
    EXPECT_EQ(static_cast<std::uint64_t>(asked.load()), 1 + narrow.stats().reconnects);
  }
  held.clear();
  for (auto& waiter : waiters) EXPECT_TRUE(waiter.take());
}

ROWLOCK_FOR_EACH_STORE(mutex_test);

}  // namespace
}  // namespace rowlock::test
