// Each allocation fails once, in each call and in each thread of a client. Whatever then happens to the call, nothing
// hangs, no lock stays held for nobody, and the client can be closed.
#include "client/closing_handle.hpp"
#include "client/engine.hpp"
#include "out_of_memory/failing_memory.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"
#include "support/memory_fixture.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"
#include "support/threads.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

// Much less than a ttl, so no lease has ended what the client should have ended.
constexpr auto ttl = 10min;
constexpr auto soon_enough = 8s;
constexpr auto limit = 40s;

// Ends the program if a case takes too long, and says which.
class case_watch {
 public:
  explicit case_watch(std::string what)
      : thread_{[this, what = std::move(what)] {
          std::unique_lock lock{mutex_};
          if (changed_.wait_for(lock, limit, [this] { return over_; })) return;
          const auto text = "\nhangs: " + what + "\n";
          [[maybe_unused]] const auto put = ::write(STDOUT_FILENO, text.data(), text.size());
          std::abort();
        }} {}
  ~case_watch() {
    {
      const std::lock_guard lock{mutex_};
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

std::size_t client_threads() {
  const auto all = other_threads();
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [](const auto& one) { return one.name.starts_with("rowlock-"); }));
}

bool within(std::chrono::milliseconds time, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// What a call may throw when memory runs out. Anything else ends the test.
void try_to(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
  } catch (const error&) {
  }
}

class out_of_memory_test : public testing::TestWithParam<std::string> {
 protected:
  out_of_memory_test() {
    if (auto* memory = dynamic_cast<memory_fixture*>(fixture_.get())) {
      memory->server().let_time_pass();
      // The server has memory.
      memory->server().on_call([](store::memory_call& call) {
        failing_memory::spare(call.at == store::memory_call::phase::before);
      });
    }
  }

  // One client loses an allocation, while the other one is well.
  struct scene {
    client victim;
    client& rival;
    std::string name;
    std::optional<hold> held{};
    std::optional<hold> others{};
    std::string text{};
    std::future<void> waits{};  // must end soon after the act
  };
  using act = std::function<void(scene&)>;

  static options settings() {
    options made;
    made.ttl = ttl;
    made.renew_interval = 25ms;
    made.poll_interval = 100ms;
    made.close_timeout = 10s;
    made.sweep_interval.reset();
    made.log = [](log_level, std::string_view) {};
    return made;
  }

  client open() {
    auto how = settings();
    if (!fixture_->url().empty()) {
      how.prefix = fixture_->options().prefix;
      return connect(fixture_->url(), how);
    }
    std::shared_ptr<store::database> database = fixture_->open();
    return primitives::access::make<client>(client_layer::closing_handle(
        client_layer::engine::open([database] { return database; }, how, client_layer::system_time())));
  }

  // All its threads run.
  client open_warm() {
    auto made = open();
    for (int i = 0; i < 2; ++i) mutex(made, "warm").acquire().release();
    return made;
  }

  // Runs the act once for each of its allocations in the calling thread.
  void fail_each(const std::string& what, const act& prepare, const act& run) {
    fail_each_of({}, what, prepare, run);
  }
  // The same in the client's threads of that name; the calling thread is spared.
  void fail_each_of(const std::string& thread, const std::string& what, const act& prepare, const act& run) {
    auto rival = open_warm();
    ASSERT_TRUE(within(2s, [&] { return client_threads() > 3; }));
    std::size_t threads = 0;
    within(300ms, [&] { return std::exchange(threads, client_threads()) == client_threads() && false; });
    bool more = true;
    std::uint64_t number = 0;
    for (; more && number < 5000; ++number) {
      const auto named = what + " " + thread + " " + std::to_string(number);
      SCOPED_TRACE(named);
      const case_watch watch{named};
      const auto since = failing_memory::now();
      scene now{open_warm(), rival, what + std::to_string(number)};
      if (prepare) prepare(now);
      {
        std::optional<failing_memory> failing;
        if (thread.empty()) {
          failing.emplace(number);
        } else {
          failing.emplace(number, thread, since);
        }
        try_to([&] { run(now); });
        more = failing->stop();
      }
      if (now.waits.valid()) {
        EXPECT_EQ(now.waits.wait_for(soon_enough), std::future_status::ready) << "a wait does not end";
      }
      now.held.reset();
      now.others.reset();
      if (now.waits.valid()) now.waits.get();
      if (now.text.empty()) expect_free(now);
      now.victim.close();
      now.victim = rival;
      if (!now.text.empty()) expect_adoptable(now);
      EXPECT_TRUE(within(soon_enough, [&] { return client_threads() <= threads; })) << "a thread lives on";
      if (HasFailure()) break;
    }
    RecordProperty(what, static_cast<int>(number));
    std::printf("%s %s: %d allocations\n", what.c_str(), thread.c_str(), static_cast<int>(number));
  }

  // Another thread waits for the lock, which is held.
  static void begin_to_wait(scene& now, const client& with) {
    now.waits =
        in_background([with, name = now.name] { try_to([&] { mutex(with, name).acquire().release(); }); });
    EXPECT_TRUE(within(soon_enough, [&] { return !mutex(now.rival, now.name).waiters().empty(); }));
  }

  static void expect_free(scene& now) {
    mutex lock{now.rival, now.name};
    auto held = lock.try_acquire_for(soon_enough);
    EXPECT_TRUE(held) << "the lock stays held";
    held.release();
  }
  // It was transferred, or it is free.
  static void expect_adoptable(scene& now) {
    auto adopted = adopt(now.rival, now.text);
    EXPECT_TRUE(adopted) << "a transferred lock is gone";
    adopted.release();
    expect_free(now);
  }

  const std::unique_ptr<store_fixture> fixture_ = make_store_fixture(GetParam());
};

// The drivers of the other databases allocate for themselves.
INSTANTIATE_TEST_SUITE_P(stores, out_of_memory_test, testing::ValuesIn(selected_of({"memory", "sqlite"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(out_of_memory_test);

TEST_P(out_of_memory_test, connect) {
  bool more = true;
  for (std::uint64_t number = 0; more; ++number) {
    const case_watch watch{"connect " + std::to_string(number)};
    failing_memory failing{number};
    try_to([this] { open().close(); });
    more = failing.stop();
  }
  EXPECT_TRUE(within(soon_enough, [] { return client_threads() == 0; })) << "a thread lives on";
}

TEST_P(out_of_memory_test, the_first_acquire_of_a_client) {
  std::optional<client> fresh;
  fail_each(
      "first", [&](scene&) { fresh.emplace(open()); },
      [&](scene& now) {
        try_to([&] { mutex(*fresh, now.name).acquire().release(); });
        failing_memory::spare(false);
        fresh->close();
      });
}

TEST_P(out_of_memory_test, close) {
  fail_each(
      "close", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.victim.close(); });
}

TEST_P(out_of_memory_test, close_during_a_wait) {
  fail_each(
      "close-wait",
      [](scene& now) {
        now.others = mutex(now.rival, now.name).acquire();
        begin_to_wait(now, now.victim);
      },
      [](scene& now) { now.victim.close(); });
}

TEST_P(out_of_memory_test, release) {
  fail_each(
      "release", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.held->release(); });
}

TEST_P(out_of_memory_test, destructor) {
  fail_each(
      "destructor", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.held.reset(); });
}

TEST_P(out_of_memory_test, release_to_a_waiter) {
  fail_each(
      "hand-over",
      [](scene& now) {
        now.held = mutex(now.victim, now.name).acquire();
        begin_to_wait(now, now.rival);
      },
      [](scene& now) { now.held->release(); });
}

TEST_P(out_of_memory_test, release_to_a_waiter_of_the_same_client) {
  fail_each(
      "hand-over-here",
      [](scene& now) {
        now.held = mutex(now.victim, now.name).acquire();
        begin_to_wait(now, now.victim);
      },
      [](scene& now) { now.held->release(); });
}

TEST_P(out_of_memory_test, lock_and_unlock) {
  fail_each("unlock", {}, [](scene& now) {
    mutex lock{now.victim, now.name};
    lock.lock();
    lock.unlock();
  });
}

TEST_P(out_of_memory_test, acquire) {
  fail_each("acquire", {}, [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); });
}

TEST_P(out_of_memory_test, acquire_of_a_known_name) {
  fail_each(
      "known", [](scene& now) { mutex(now.victim, now.name).acquire().release(); },
      [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); });
}

TEST_P(out_of_memory_test, the_name_can_be_acquired_again_by_the_same_client) {
  fail_each(
      "again", [](scene& now) { mutex(now.victim, now.name).acquire().release(); },
      [](scene& now) {
        try_to([&] { mutex(now.victim, now.name).acquire().release(); });
        EXPECT_TRUE(mutex(now.victim, now.name).try_acquire_for(soon_enough)) << "the name stays reserved";
      });
}

TEST_P(out_of_memory_test, try_acquire) {
  fail_each("try", {}, [](scene& now) { now.held = mutex(now.victim, now.name).try_acquire(); });
}

TEST_P(out_of_memory_test, try_acquire_of_what_is_held) {
  fail_each(
      "busy", [](scene& now) { now.others = mutex(now.rival, now.name).acquire(); },
      [](scene& now) { now.held = mutex(now.victim, now.name).try_acquire(); });
}

TEST_P(out_of_memory_test, a_wait_that_ends_without_a_grant) {
  fail_each(
      "wait", [](scene& now) { now.others = mutex(now.rival, now.name).acquire(); },
      [](scene& now) { now.held = mutex(now.victim, now.name).try_acquire_for(30ms); });
}

TEST_P(out_of_memory_test, shared) {
  fail_each("shared", {}, [](scene& now) {
    shared_mutex lock{now.victim, now.name + "-shared"};
    lock.acquire_shared().release();
    EXPECT_TRUE(shared_mutex(now.rival, now.name + "-shared").try_acquire_for(soon_enough));
  });
}

TEST_P(out_of_memory_test, recursive) {
  fail_each("recursive", {}, [](scene& now) {
    recursive_mutex lock{now.victim, now.name};
    now.held = lock.acquire();
    now.others = lock.acquire();
  });
}

TEST_P(out_of_memory_test, semaphore) {
  fail_each("semaphore", {}, [](scene& now) {
    counting_semaphore lock{now.victim, now.name + "-semaphore", 2};
    lock.acquire(2).release();
    EXPECT_TRUE(counting_semaphore(now.rival, now.name + "-semaphore", 2).try_acquire_for(soon_enough, 2));
  });
}

TEST_P(out_of_memory_test, several_locks) {
  fail_each("several", {}, [](scene& now) {
    mutex one{now.victim, now.name};
    mutex other{now.victim, now.name + "-other"};
    try_to([&] { static_cast<void>(acquire_all({one, other})); });
    EXPECT_TRUE(mutex(now.rival, now.name + "-other").try_acquire_for(soon_enough)) << "one lock stays held";
  });
}

TEST_P(out_of_memory_test, several_locks_with_a_ttl) {
  fail_each("several-ttl", {}, [](scene& now) {
    mutex one{now.victim, now.name};
    mutex other{now.victim, now.name + "-other"};
    try_to([&] { static_cast<void>(acquire_all({one, other}, {.ttl = 1h})); });
    EXPECT_TRUE(mutex(now.rival, now.name + "-other").try_acquire_for(soon_enough)) << "one lock stays held";
  });
}

TEST_P(out_of_memory_test, explicit_ttl) {
  fail_each("ttl", {}, [](scene& now) { now.held = mutex(now.victim, now.name).acquire({.ttl = 1h}); });
}

TEST_P(out_of_memory_test, data) {
  fail_each(
      "data", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.held->set_data("a text that is longer than a short string"); });
}

TEST_P(out_of_memory_test, transfer) {
  fail_each(
      "transfer", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.text = now.held->transfer(1h); });
}

TEST_P(out_of_memory_test, adopt) {
  fail_each(
      "adopt",
      [](scene& now) {
        auto offered = mutex(now.rival, now.name).acquire();
        now.text = offered.transfer(1h);
      },
      [](scene& now) {
        // What failed before anything was sent may be tried again; what was done is released.
        const auto text = std::exchange(now.text, {});
        try_to([&] { adopt(now.victim, text).release(); });
        adopt(now.rival, text).release();
      });
}

TEST_P(out_of_memory_test, statistics_and_listings) {
  fail_each("stats", {}, [](scene& now) {
    static_cast<void>(now.victim.stats());
    static_cast<void>(mutex(now.victim, now.name).holders());
  });
}

TEST_P(out_of_memory_test, stop_token_and_loss) {
  fail_each(
      "stop-token", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { EXPECT_TRUE(now.held->stop_token().stop_possible()); });
}

// ---- threads ----

// Work for every thread of the client.
void do_everything(client& victim, client& rival, const std::string& name) {
  mutex lock{victim, name};
  mutex rivals{rival, name};
  try_to([&] {
    auto held = lock.acquire();
    held.set_data("a text that is longer than a short string");
    auto waits = in_background([&] { try_to([&] { rivals.try_acquire_for(soon_enough).release(); }); });
    within(5s, [&] { return !rivals.waiters().empty(); });
    held.release();
    waits.get();
  });
  try_to([&] {
    auto others = rivals.acquire();
    auto waits = in_background([&] { try_to([&] { lock.try_acquire_for(soon_enough).release(); }); });
    within(5s, [&] { return !rivals.waiters().empty() || waits.wait_for(0s) == std::future_status::ready; });
    others.release();
    waits.get();
  });
  try_to([&] {
    auto held = lock.acquire({.ttl = 1h});
    std::atomic<bool> told{false};
    const std::stop_callback on_loss{held.stop_token(), [&] { told.store(true); }};
    admin(rival).release(name);
    EXPECT_TRUE(within(soon_enough, [&] { return told.load() || !held.valid(); })) << "no loss is reported";
  });
  try_to([&] {
    const auto told = std::make_shared<std::promise<void>>();
    auto future = told->get_future();
    acquire_async([](rowlock::task run) { run(); }, lock, [told](acquired) { told->set_value(); });
    EXPECT_EQ(future.wait_for(soon_enough), std::future_status::ready) << "a continuation is lost";
  });
  const auto other = name + "-other";
  try_to([&] { static_cast<void>(acquire_all({lock, mutex{victim, other}}, {.ttl = 1h})); });
  EXPECT_TRUE(mutex(rival, other).try_acquire_for(soon_enough)) << "one of several locks stays held";
  const auto before = victim.stats().renewals;
  EXPECT_TRUE(within(soon_enough, [&] { return victim.stats().renewals > before; })) << "no renewals";
}

TEST_P(out_of_memory_test, asynchronous_calls) {
  fail_each("async", {}, [](scene& now) {
    const auto told = std::make_shared<std::promise<void>>();
    auto future = told->get_future();
    mutex lock{now.victim, now.name};
    acquire_async([](rowlock::task run) { run(); }, lock,
                  [told](acquired got) {
                    if (got) release_async(std::move(got.hold));
                    told->set_value();
                  });
    EXPECT_EQ(future.wait_for(soon_enough), std::future_status::ready) << "a continuation is lost";
  });
}

TEST_P(out_of_memory_test, thread_of_the_workers) {
  fail_each_of("rowlock-worker", "worker", {},
               [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

TEST_P(out_of_memory_test, thread_of_the_lease) {
  fail_each_of("rowlock-lease", "lease", {},
               [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

TEST_P(out_of_memory_test, thread_of_the_watchdog) {
  fail_each_of("rowlock-watch", "watch", {},
               [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

// It tells of a ttl that has ended, and ends an asynchronous wait whose time is up.
TEST_P(out_of_memory_test, thread_of_the_watchdog_when_a_time_is_up) {
  fail_each_of("rowlock-watch", "expiry", {}, [](scene& now) {
    mutex lock{now.victim, now.name};
    auto held = lock.acquire({.ttl = 200ms});
    std::atomic<bool> told{false};
    const std::stop_callback on_loss{held.stop_token(), [&] { told.store(true); }};
    const auto ended = std::make_shared<std::promise<void>>();
    auto future = ended->get_future();
    auto others = mutex(now.rival, now.name + "-other").acquire();
    try_acquire_async([](rowlock::task run) { run(); }, mutex(now.victim, now.name + "-other"), 100ms,
                      [ended](acquired) { ended->set_value(); });
    EXPECT_EQ(future.wait_for(soon_enough), std::future_status::ready) << "a continuation is lost";
    EXPECT_TRUE(within(soon_enough, [&] { return told.load(); })) << "no loss is reported";
  });
}

TEST_P(out_of_memory_test, thread_of_the_losses) {
  fail_each_of("rowlock-loss", "loss", {},
               [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

TEST_P(out_of_memory_test, thread_of_the_executors) {
  fail_each_of("rowlock-async", "executors", {},
               [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

TEST_P(out_of_memory_test, thread_of_the_log) {
  fail_each_of("rowlock-log", "log", {}, [](scene& now) { do_everything(now.victim, now.rival, now.name); });
}

TEST_P(out_of_memory_test, thread_that_connects) {
  fail_each_of("rowlock-dial", "dial", {}, [this](scene& now) {
    auto another = open_warm();
    do_everything(another, now.rival, now.name);
    another.close();
  });
}

// No allocation of a thread succeeds for a while. Its work goes on when there is memory again.
TEST_P(out_of_memory_test, a_shortage_that_lasts) {
  auto rival = open_warm();
  int case_number = 0;
  for (const std::string thread : {"rowlock-worker", "rowlock-lease", "rowlock-watch", "rowlock-loss",
                                   "rowlock-async", "rowlock-log", "rowlock-dial"}) {
    for (const std::uint64_t number : {0, 1, 2, 3, 5, 8, 13, 21, 34}) {
      const auto named = "lasting " + thread + " " + std::to_string(number);
      SCOPED_TRACE(named);
      const case_watch watch{named};
      const auto since = failing_memory::now();
      scene now{open_warm(), rival, "lasting" + std::to_string(++case_number)};
      {
        failing_memory failing{number, thread, since, failing_memory::shortage::lasting};
        const std::jthread ends{[&failing] {
          std::this_thread::sleep_for(60ms);
          failing.stop();
        }};
        try_to([&] { do_everything(now.victim, now.rival, now.name); });
      }
      expect_free(now);
      now.victim.close();
    }
  }
}

TEST_P(out_of_memory_test, close_and_release_without_any_memory) {
  auto rival = open_warm();
  for (int number = 0; number < 8; ++number) {
    const case_watch watch{"nothing " + std::to_string(number)};
    scene now{open_warm(), rival, "nothing" + std::to_string(number)};
    now.held = mutex(now.victim, now.name).acquire();
    auto other = mutex(now.victim, now.name + "-other").acquire();
    {
      failing_memory failing{static_cast<std::uint64_t>(number), failing_memory::shortage::lasting};
      EXPECT_NO_THROW(static_cast<void>(now.held->release()));
      now.victim.close();
    }
    expect_free(now);
    EXPECT_TRUE(mutex(now.rival, now.name + "-other").try_acquire_for(soon_enough)) << "the lock stays held";
  }
}

// Everything that the workers do for a close.
TEST_P(out_of_memory_test, thread_of_the_workers_during_a_close) {
  fail_each_of(
      "rowlock-worker", "worker-close", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.victim.close(); });
}

TEST_P(out_of_memory_test, thread_of_the_lease_during_a_close) {
  fail_each_of(
      "rowlock-lease", "lease-close", [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); },
      [](scene& now) { now.victim.close(); });
}

}  // namespace
}  // namespace rowlock::test
