// Circles of waiters, which callers find that asked for it, and operators.
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <mutex>
#include <set>

namespace rowlock::test {
namespace {

class deadlock_test : public client_test {
 protected:
  static options looking_often() {
    auto settings = patient();
    settings.poll_interval = 50ms;
    return settings;
  }

  // A thread that acquires `first`, waits until both threads have theirs, and then acquires `second`.
  struct rival {
    std::future<errc> result;  // errc::internal if it got both locks
  };
  rival begin(const client& on, const std::string& first, const std::string& second, bool looks, int& have,
              std::mutex& mutex_of_have) {
    return {in_background([=, &have, &mutex_of_have] {
      const hold one = mutex(on, first).acquire();
      {
        const std::lock_guard lock{mutex_of_have};
        ++have;
      }
      eventually([&] {
        const std::lock_guard lock{mutex_of_have};
        return have == 2;
      });
      const auto refused =
          code_of_call([&] { std::ignore = mutex(on, second).acquire({.detect_deadlock = looks}); });
      return refused;
    })};
  }
  static errc code_of_call(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& failure) {
      EXPECT_THAT(failure.what(), testing::HasSubstr("waits for"));
      return failure.kind();
    }
    return errc::internal;
  }

  client db = new_client(looking_often());
  client other = new_client(looking_often());
};

TEST_P(deadlock_test, one_of_two_that_look_gives_up_and_the_other_gets_both) {
  int have = 0;
  std::mutex guard;
  // One gives up after two looks, and the other waits for three more. With 50 ms between them, a busy machine had not
  // withdrawn the first by then, and both gave up.
  auto settings = looking_often();
  settings.poll_interval = 500ms;
  auto one = begin(new_client(settings), "a", "b", true, have, guard);
  auto two = begin(new_client(settings), "b", "a", true, have, guard);
  const auto results = std::multiset<errc>{one.result.get(), two.result.get()};
  EXPECT_EQ(results, (std::multiset<errc>{errc::deadlock, errc::internal}));
  EXPECT_EQ(queued("a") + queued("b"), 0U) << "nothing of it remains";
}

TEST_P(deadlock_test, a_waiter_that_looks_gives_up_for_one_that_does_not) {
  int have = 0;
  std::mutex guard;
  auto one = begin(db, "a", "b", true, have, guard);
  auto two = begin(other, "b", "a", false, have, guard);
  EXPECT_EQ(one.result.get(), errc::deadlock);
  EXPECT_EQ(two.result.get(), errc::internal);
}

TEST_P(deadlock_test, a_thread_that_waits_for_itself_learns_it) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.detect_deadlock = true}); }),
            errc::deadlock);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").try_acquire_for(1h, {.detect_deadlock = true}); }),
            errc::deadlock);
  EXPECT_FALSE(mutex(db, "a").try_acquire_for(10ms, {.detect_deadlock = true}))
      << "its time ends before a search";
}

TEST_P(deadlock_test, a_waiter_for_somebody_at_work_goes_on_waiting) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  auto later = in_background([&] { return mutex(other, "a").acquire({.detect_deadlock = true}); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  const auto before = other.stats().statements;
  ASSERT_TRUE(eventually([&] { return other.stats().statements > before + 10; })) << "it searches";
  EXPECT_EQ(queued("a"), 1U);
  held.reset();
  EXPECT_TRUE(later.get());
}

// A permit that rests has the id of the hold that is over, but its lock comes free without its owner.
TEST_P(deadlock_test, a_permit_that_rests_makes_no_circle) {
  counting_semaphore here{db, "s", 1};
  auto over = here.acquire(1, {.min_hold = 3s});
  EXPECT_EQ(over.release(), release_result::released);
  std::promise<void> has_m;
  auto waiter = in_background([&] {
    const hold mine = mutex(other, "m").acquire();
    has_m.set_value();
    return static_cast<bool>(counting_semaphore(other, "s", 1).acquire());
  });
  has_m.get_future().wait();
  ASSERT_TRUE(eventually([&] { return queued("s") == 1; }));
  EXPECT_TRUE(mutex(db, "m").acquire({.detect_deadlock = true})) << "when the rest is over";
  EXPECT_TRUE(waiter.get());
}

TEST_P(deadlock_test, the_operator_sees_who_waits_in_a_circle) {
  EXPECT_TRUE(admin{db}.cycles().empty());
  int have = 0;
  std::mutex guard;
  std::stop_source stop;
  const auto take = [&](const client& on, const std::string& first, const std::string& second) {
    return in_background([&, first, second] {
      hold one = mutex(on, first).acquire();
      {
        const std::lock_guard lock{guard};
        ++have;
      }
      eventually([&] {
        const std::lock_guard lock{guard};
        return have == 2;
      });
      const auto refused =
          code_of([&] { std::ignore = mutex(on, second).acquire({.stop = stop.get_token()}); });
      // The thread returns its hold, too: if the hold were released here, the lock would be granted to the other
      // thread, which might then miss its stop request.
      return std::pair{refused, std::move(one)};
    });
  };
  auto one = take(db, "a", "b");
  auto two = take(other, "b", "a");
  ASSERT_TRUE(eventually([&] { return queued("a") + queued("b") == 2; }));
  const auto cycles = admin{db}.cycles();
  ASSERT_EQ(cycles.size(), 1U);
  ASSERT_EQ(cycles.front().size(), 2U);
  for (const auto& member : cycles.front()) {
    EXPECT_EQ(member.waiter.hold_id, side().queue(member.waits_for).front().waiter.hold);
  }
  stop.request_stop();
  const auto [refused, held] = one.get();
  const auto [also_refused, also_held] = two.get();
  EXPECT_EQ(refused, errc::cancelled);
  EXPECT_EQ(also_refused, errc::cancelled);
}

ROWLOCK_FOR_EACH_STORE(deadlock_test);

class deadlock_doubt_test : public virtual_client_test {
 protected:
  client db = new_client();
  client other = new_client();
};

TEST_F(deadlock_doubt_test, a_look_that_fails_leaves_no_request_behind) {
  auto held = std::make_optional(mutex(other, "a").acquire());
  auto waiting = in_background(
      [&] { return code_of([&] { std::ignore = mutex(db, "a").acquire({.detect_deadlock = true}); }); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  server->on_call([](store::memory_call& call) {
    if (call.before("waited_for")) throw error(errc::privilege, "refused by the test");
  });
  ASSERT_TRUE(soon([&] { return waiting.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(waiting.get(), errc::privilege);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
  held.reset();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

}  // namespace
}  // namespace rowlock::test
