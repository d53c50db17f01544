// Each allocation fails once, in each call and in each thread of a client. Whatever then happens to the call, nothing
// hangs, no lock stays held without an owner, and the client can be closed.
#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "out_of_memory/failing_memory.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"
#include "support/long_run.hpp"
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
#include <vector>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

// The ttl is long, so that no lease ends what the client should have ended.
constexpr auto ttl = 10min;
constexpr auto soon_enough = 8s;
constexpr auto limit = 40s;

// Ends the program if a case takes too long, and names the case.
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

// Calls a function that may throw what a call throws when memory runs out. Anything else fails the test.
void try_to(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
  } catch (const error&) {
  }
}

// Gives every thread of the client something to do.
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

class out_of_memory_test : public testing::TestWithParam<std::string> {
 protected:
  out_of_memory_test() { serve_well(*fixture_); }

  // Code that stands in for a server does not run out of memory.
  static void serve_well(store_fixture& fixture) {
    auto* memory = dynamic_cast<memory_fixture*>(&fixture);
    if (!memory) return;
    memory->server().let_time_pass();
    memory->server().on_call([](store::memory_call& call) {
      failing_memory::spare(call.at == store::memory_call::phase::before);
    });
  }

  // The client `victim` loses an allocation; the client `rival` does not.
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

  client open() { return open_on(*fixture_); }
  static client open_on(store_fixture& fixture) {
    auto how = settings();
    if (!fixture.url().empty()) {
      how.prefix = fixture.options().prefix;
      return connect(fixture.url(), how);
    }
    std::shared_ptr<store::database> database = fixture.open();
    return primitives::access::make<client>(client_layer::closing_handle(
        client_layer::engine::open([database] { return database; }, how, client_layer::system_time())));
  }

  // Uses the client until all its threads run.
  static client warm(client made) {
    for (int i = 0; i < 2; ++i) mutex(made, "warm").acquire().release();
    return made;
  }
  client open_warm() { return warm(open()); }

  // Runs the act once for each of its allocations in the calling thread, which fails. check: runs when there is memory
  // again.
  void fail_each(const std::string& what, const act& prepare, const act& run, const act& check = {}) {
    fail_each_of({}, what, prepare, run, check);
  }
  // The same for allocations in the client's threads of that name; those of the calling thread succeed.
  void fail_each_of(const std::string& thread, const std::string& what, const act& prepare, const act& run,
                    const act& check = {}) {
    auto rival = open_warm();
    ASSERT_TRUE(within(2s, [&] { return client_threads() > 3; }));
    std::size_t threads = 0;
    within(300ms, [&] { return std::exchange(threads, client_threads()) == client_threads() && false; });
    bool more = true;
    std::uint64_t number = 0;
    for (; more && number < 5000; number += step()) {
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
      if (check) check(now);
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

  // Each allocation gets its turn; on a server, where each case takes longer, every eleventh, unless the run is a long
  // one.
  static std::uint64_t step() {
    const bool is_quick = GetParam() == "memory" || GetParam() == "sqlite";
    return is_quick || is_long_run() ? 1 : 11;
  }

  void connect_each() {
    bool more = true;
    for (std::uint64_t number = 0; more; number += step()) {
      const case_watch watch{"connect " + std::to_string(number)};
      failing_memory failing{number};
      try_to([this] { open().close(); });
      more = failing.stop();
    }
    EXPECT_TRUE(within(soon_enough, [] { return client_threads() == 0; })) << "a thread lives on";
  }

  void acquire_each() {
    fail_each("acquire", {}, [](scene& now) { now.held = mutex(now.victim, now.name).acquire(); });
  }
  void hand_over_each() {
    fail_each(
        "hand-over",
        [](scene& now) {
          now.held = mutex(now.victim, now.name).acquire();
          begin_to_wait(now, now.rival);
        },
        [](scene& now) { now.held->release(); });
  }
  void use_permits_each() {
    fail_each("semaphore", {}, [](scene& now) {
      counting_semaphore lock{now.victim, now.name + "-semaphore", 2};
      lock.acquire(2).release();
      EXPECT_TRUE(counting_semaphore(now.rival, now.name + "-semaphore", 2).try_acquire_for(soon_enough, 2));
    });
  }
  void do_everything_each_in(const std::string& thread) {
    fail_each_of(thread, "everything", {},
                 [](scene& now) { do_everything(now.victim, now.rival, now.name); });
  }

  // Lets another thread wait for the lock, which is held.
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
  static void expect_free_office(scene& now) {
    rowlock::election office{now.rival, now.name + "-election"};
    EXPECT_TRUE(office.try_campaign_for(soon_enough)) << "the office stays taken";
  }
  // Expects that the hold was transferred, or that the lock is free.
  static void expect_adoptable(scene& now) {
    auto adopted = adopt(now.rival, now.text);
    EXPECT_TRUE(adopted) << "a transferred lock is gone";
    adopted.release();
    expect_free(now);
  }

  const std::unique_ptr<store_fixture> fixture_ = make_store_fixture(GetParam());
};

// The servers' drivers have a suite of their own below, because each case takes longer there.
INSTANTIATE_TEST_SUITE_P(stores, out_of_memory_test, testing::ValuesIn(selected_of({"memory", "sqlite"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(out_of_memory_test);

TEST_P(out_of_memory_test, connect) {
  connect_each();
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
  hand_over_each();
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
  acquire_each();
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
  use_permits_each();
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
        // If the victim's adopt failed before it sent anything, the rival adopts the hold; otherwise the victim has
        // released it.
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

// Expects that the hold claims at most what the database has; it may claim less.
void expect_no_more_than_stored(client& rival, std::optional<hold>& held) {
  const auto stored = shared_mutex(rival, held->name()).holders();
  const auto own = std::ranges::find_if(stored, [&](const auto& one) { return one.hold_id == held->id(); });
  ASSERT_NE(own, stored.end());
  EXPECT_LE(held->weight(), own->weight);
  EXPECT_EQ(held->release(), release_result::released);
  EXPECT_TRUE(shared_mutex(rival, held->name()).try_acquire_for(soon_enough)) << "the lock stays held";
}

TEST_P(out_of_memory_test, downgrade) {
  fail_each(
      "downgrade", [](scene& now) { now.held = shared_mutex(now.victim, now.name + "-shared").acquire(); },
      [](scene& now) { shared_mutex(now.victim, now.name + "-shared").downgrade(*now.held); },
      [](scene& now) { expect_no_more_than_stored(now.rival, now.held); });
}

TEST_P(out_of_memory_test, downgrade_beside_a_reader_that_waits) {
  fail_each(
      "reader",
      [](scene& now) {
        const auto name = now.name + "-shared";
        now.held = shared_mutex(now.victim, name).acquire();
        now.waits =
            in_background([db = now.rival, name] { shared_mutex(db, name).acquire_shared().release(); });
        EXPECT_TRUE(within(soon_enough, [&] { return !shared_mutex(now.rival, name).waiters().empty(); }));
      },
      [](scene& now) { shared_mutex(now.victim, now.name + "-shared").downgrade(*now.held); },
      [](scene& now) { expect_no_more_than_stored(now.rival, now.held); });
}

TEST_P(out_of_memory_test, upgrade) {
  fail_each(
      "upgrade",
      [](scene& now) { now.held = shared_mutex(now.victim, now.name + "-shared").acquire_shared(); },
      [](scene& now) { EXPECT_TRUE(shared_mutex(now.victim, now.name + "-shared").try_upgrade(*now.held)); },
      [](scene& now) { expect_no_more_than_stored(now.rival, now.held); });
}

TEST_P(out_of_memory_test, election) {
  fail_each(
      "election", {},
      [](scene& now) {
        rowlock::election office{now.victim, now.name + "-election"};
        auto won = office.campaign();
        won.proclaim("a text that is longer than a short string");
        static_cast<void>(office.observe());
      },
      expect_free_office);
}

// A candidate that leads, resigns or loses its office, and is closed. Whatever fails, calls of elected() and lost()
// alternate, and the office is free afterwards.
class led_office {
 public:
  led_office(const client& db, const std::string& name)
      : office_{db, name}, candidate_{[](rowlock::task run) { run(); }, office_, settings()} {}

  bool leads() const { return elected_.load() > lost_.load(); }
  bool is_over() const { return candidate_.state() == candidate_state::over; }
  bool has_ended() const { return lost_.load() > 0 || failed_.load() > 0 || is_over(); }
  bool resign() { return candidate_.resign(); }
  ~led_office() {
    candidate_.close(close_mode::tell);
    EXPECT_EQ(elected_.load(), lost_.load());
  }

 private:
  candidate_options settings() {
    candidate_options how;
    how.requeue = false;
    how.elected = [this](term&, const std::stop_token&) { ++elected_; };
    how.lost = [this](loss) { ++lost_; };
    how.failed = [this](const std::exception_ptr&) { ++failed_; };
    return how;
  }

  std::atomic<int> elected_{0};
  std::atomic<int> lost_{0};
  std::atomic<int> failed_{0};
  rowlock::election office_;
  candidate candidate_;
};

void lead_and_resign(const client& db, const std::string& name) {
  led_office office{db, name};
  EXPECT_TRUE(within(soon_enough, [&] { return office.leads() || office.has_ended(); })) << "nobody leads";
  if (office.leads()) try_to([&] { office.resign(); });
  EXPECT_TRUE(within(soon_enough, [&] { return office.has_ended(); })) << "the term does not end";
}

void lead_and_lose(const client& db, const client& rival, const std::string& name) {
  led_office office{db, name};
  EXPECT_TRUE(within(soon_enough, [&] { return office.leads() || office.has_ended(); })) << "nobody leads";
  try_to([&] { admin(rival).release(name); });
  EXPECT_TRUE(within(soon_enough, [&] { return office.has_ended(); })) << "the loss is not noticed";
}

TEST_P(out_of_memory_test, candidate_that_resigns) {
  fail_each(
      "candidate", {}, [](scene& now) { lead_and_resign(now.victim, now.name + "-election"); },
      expect_free_office);
}

TEST_P(out_of_memory_test, thread_of_the_executors_of_a_candidate_that_resigns) {
  fail_each_of(
      "rowlock-async", "candidate-resigns", {},
      [](scene& now) { lead_and_resign(now.victim, now.name + "-election"); }, expect_free_office);
}

TEST_P(out_of_memory_test, thread_of_the_executors_of_a_candidate_that_loses) {
  fail_each_of(
      "rowlock-async", "candidate-loses", {},
      [](scene& now) { lead_and_lose(now.victim, now.rival, now.name + "-election"); }, expect_free_office);
}

TEST_P(out_of_memory_test, thread_of_the_losses_of_a_candidate) {
  fail_each_of(
      "rowlock-loss", "candidate-loss", {},
      [](scene& now) { lead_and_lose(now.victim, now.rival, now.name + "-election"); }, expect_free_office);
}

// An answer of the database reaches the caller, whatever fails after it.
TEST_P(out_of_memory_test, thread_of_the_workers_of_changes) {
  fail_each_of(
      "rowlock-worker", "changes", {},
      [](scene& now) {
        shared_mutex lock{now.victim, now.name + "-shared"};
        now.held = lock.acquire();
        try_to([&] { lock.downgrade(*now.held); });
        try_to([&] { static_cast<void>(lock.try_upgrade(*now.held)); });
        try_to([&] { rowlock::latch(now.victim, now.name + "-latch", 2).count_down(); });
        try_to([&] { counting_semaphore(now.victim, now.name + "-semaphore", 2).resize(3); });
      },
      [](scene& now) {
        if (now.held) expect_no_more_than_stored(now.rival, now.held);
        EXPECT_GE(rowlock::latch(now.rival, now.name + "-latch", 2).remaining(), 1);
      });
}

// A call that succeeds has counted, and one that fails has counted at most once.
TEST_P(out_of_memory_test, latch) {
  bool counted = false;
  fail_each(
      "latch", [&](scene&) { counted = false; },
      [&](scene& now) {
        rowlock::latch done{now.victim, now.name + "-latch", 2};
        done.count_down();
        counted = true;
        static_cast<void>(done.wait_for(1ms));
      },
      [&](scene& now) {
        const auto left = rowlock::latch(now.rival, now.name + "-latch", 2).remaining();
        EXPECT_GE(left, 1);
        EXPECT_LE(left, counted ? 1 : 2);
      });
}

TEST_P(out_of_memory_test, a_latch_that_opens) {
  fail_each(
      "open",
      [](scene& now) {
        now.waits = in_background([db = now.rival, name = now.name + "-latch"] {
          try_to([&] { rowlock::latch(db, name, 1).wait(); });
        });
        EXPECT_TRUE(
            within(soon_enough, [&] { return admin(now.rival).show(now.name + "-latch").has_value(); }));
      },
      [](scene& now) { rowlock::latch(now.victim, now.name + "-latch", 1).count_down(); },
      [](scene& now) {
        rowlock::latch again{now.rival, now.name + "-latch", 1};
        if (!again.try_wait()) again.count_down();
      });
}

// A generation is complete or broken; nobody waits for ever.
TEST_P(out_of_memory_test, barrier) {
  bool arrived = false;
  fail_each(
      "barrier",
      [&](scene& now) {
        arrived = false;
        now.waits = in_background([db = now.rival, name = now.name + "-barrier"] {
          try_to([&] { rowlock::barrier(db, name, 2).arrive_and_wait(); });
        });
        EXPECT_TRUE(within(soon_enough, [&] {
          return rowlock::barrier(now.rival, now.name + "-barrier", 2).waiting() == 1;
        }));
      },
      [&](scene& now) {
        rowlock::barrier(now.victim, now.name + "-barrier", 2).arrive_and_wait();
        arrived = true;
      },
      [&](scene& now) {
        if (arrived) return;
        // The waiting member needs a second arrival, unless the failed call has arrived and could not say so.
        rowlock::barrier again{now.rival, now.name + "-barrier", 2};
        if (again.waiting() == 1) static_cast<void>(again.arrive_and_wait_for(soon_enough));
      });
}

// A quorum of three databases. Nothing fails in the other two, which belong to the test.
class quorum_out_of_memory_test : public out_of_memory_test {
 protected:
  quorum_out_of_memory_test() {
    for (const auto& one : others_) {
      serve_well(*one);
      members_.push_back(warm(open_on(*one)));
    }
  }

  // Runs the act once for each allocation of the calling thread.
  void fail_each_quorum(const std::string& what,
                        const std::function<void(quorum_mutex&, std::optional<quorum_hold>&)>& prepare,
                        const std::function<void(quorum_mutex&, std::optional<quorum_hold>&)>& run) {
    std::optional<quorum_mutex> lock;
    std::optional<quorum_hold> held;
    fail_each(
        what,
        [&](scene& now) {
          lock.emplace(members_with(now.victim), now.name, generous());
          if (prepare) prepare(*lock, held);
        },
        [&](scene&) { run(*lock, held); },
        [&](scene& now) {
          held.reset();
          lock.reset();
          for (const auto& member : members_with(now.rival)) {
            EXPECT_TRUE(mutex(member, now.name).try_acquire_for(soon_enough)) << "a member stays held";
          }
          EXPECT_TRUE(
              quorum_mutex(members_with(now.rival), now.name, generous()).try_acquire_for(soon_enough));
        });
  }

  static quorum_options generous() {
    quorum_options how;
    how.member_timeout = 5s;
    return how;
  }
  std::vector<client> members_with(const client& first) const {
    auto all = members_;
    all.push_back(first);
    return all;
  }

  const std::vector<std::unique_ptr<store_fixture>> others_ = [] {
    std::vector<std::unique_ptr<store_fixture>> made;
    for (int i = 0; i < 2; ++i) made.push_back(make_store_fixture(GetParam()));
    return made;
  }();
  std::vector<client> members_;
};

TEST_P(quorum_out_of_memory_test, acquire) {
  fail_each_quorum("quorum", {}, [](quorum_mutex& lock, auto& held) { held = lock.acquire(); });
}

TEST_P(quorum_out_of_memory_test, release) {
  fail_each_quorum(
      "quorum-release", [](quorum_mutex& lock, auto& held) { held = lock.acquire(); },
      [](quorum_mutex&, auto& held) {
        auto result = release_result::unknown;
        EXPECT_NO_THROW(result = held->release());
        EXPECT_EQ(result, release_result::released);
      });
}

TEST_P(quorum_out_of_memory_test, destructor) {
  fail_each_quorum(
      "quorum-destructor", [](quorum_mutex& lock, auto& held) { held = lock.acquire(); },
      [](quorum_mutex&, auto& held) { held.reset(); });
}

TEST_P(quorum_out_of_memory_test, data) {
  fail_each_quorum(
      "quorum-data", [](quorum_mutex& lock, auto& held) { held = lock.acquire(); },
      [](quorum_mutex&, auto& held) { held->set_data("a text that is longer than a short string"); });
}

// The others' hold on its members is released, too.
TEST_P(quorum_out_of_memory_test, thread_of_the_losses_when_the_majority_is_lost) {
  fail_each_of("rowlock-loss", "quorum-loss", {}, [this](scene& now) {
    auto held = quorum_mutex(members_with(now.victim), now.name, generous()).acquire();
    std::atomic<bool> told{false};
    const std::stop_callback on_loss{held.stop_token(), [&] { told.store(true); }};
    for (auto member : {now.rival, members_.front()}) admin(member).release(now.name);
    EXPECT_TRUE(within(soon_enough, [&] { return told.load(); })) << "no loss is reported";
    EXPECT_TRUE(mutex(members_.back(), now.name).try_acquire_for(soon_enough)) << "the third stays held";
  });
}

INSTANTIATE_TEST_SUITE_P(stores, quorum_out_of_memory_test,
                         testing::ValuesIn(selected_of({"memory", "sqlite"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(quorum_out_of_memory_test);

// ---- threads ----

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
  do_everything_each_in("rowlock-worker");
}

TEST_P(out_of_memory_test, thread_of_the_lease) {
  do_everything_each_in("rowlock-lease");
}

TEST_P(out_of_memory_test, thread_of_the_watchdog) {
  do_everything_each_in("rowlock-watch");
}

// The watchdog reports that a ttl has ended, and ends an asynchronous wait whose time is up.
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
  do_everything_each_in("rowlock-loss");
}

TEST_P(out_of_memory_test, thread_of_the_executors) {
  do_everything_each_in("rowlock-async");
}

TEST_P(out_of_memory_test, thread_of_the_log) {
  do_everything_each_in("rowlock-log");
}

TEST_P(out_of_memory_test, thread_that_connects) {
  fail_each_of("rowlock-dial", "dial", {}, [this](scene& now) {
    auto another = open_warm();
    do_everything(another, now.rival, now.name);
    another.close();
  });
}

// For a while all allocations of a thread fail. The thread goes on with its work when there is memory again.
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

// The threads do everything that a close needs.
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

// ---- the drivers of the servers ----

class driver_out_of_memory_test : public out_of_memory_test {};

TEST_P(driver_out_of_memory_test, connect) {
  connect_each();
}

TEST_P(driver_out_of_memory_test, acquire) {
  acquire_each();
}

TEST_P(driver_out_of_memory_test, release_to_a_waiter) {
  hand_over_each();
}

TEST_P(driver_out_of_memory_test, semaphore) {
  use_permits_each();
}

TEST_P(driver_out_of_memory_test, thread_of_the_workers) {
  do_everything_each_in("rowlock-worker");
}

TEST_P(driver_out_of_memory_test, thread_of_the_lease) {
  do_everything_each_in("rowlock-lease");
}

// Nothing else may plan the next look: nobody comes, and no wake-up.
TEST(waiter_poll_out_of_memory_test, a_look_stays_due) {
  auto& time = client_layer::system_time();
  client_layer::client_environment environment{options{}, time};
  client_layer::keeper_agenda agenda;
  client_layer::submission_queue queue{environment, agenda};
  client_layer::waiter_registry waiters;
  client_layer::hold_registry holds{agenda};
  client_layer::recent_releases releases;
  client_layer::recently_contended contended;
  client_layer::request_settler settler{environment, agenda, queue, waiters, holds, releases, contended, {}};
  client_layer::session_slot slot{environment, {}};
  client_layer::waiter_poll poll{environment, queue, waiters, settler, holds, agenda, slot};
  const auto waits = std::make_shared<client_layer::acquire_operation>();
  ASSERT_TRUE(waiters.enter(waits, client_layer::instant::max()));
  agenda.plan_look(time.now());
  {
    failing_memory failing{0};
    EXPECT_THROW(poll.look(), std::bad_alloc);
  }
  EXPECT_LE(poll.next(), time.now());
  EXPECT_EQ(waiters.take(*waits), waits);
}

// An open transaction would hold all later statements of the session, and their grants would be undone with it.
TEST_P(driver_out_of_memory_test, leaves_no_transaction_open) {
  const auto database = fixture_->open();
  const auto other = database->connect();
  bool more = true;
  for (std::uint64_t number = 0; more; ++number) {
    SCOPED_TRACE(number);
    const auto victim = database->connect();
    victim->record_database_state();
    {
      failing_memory failing{number};
      try_to([&] { victim->raise_epoch(0); });
      more = failing.stop();
    }
    // It would wait for the row that the other transaction has locked.
    EXPECT_NO_THROW(other->raise_epoch(0));
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(stores, driver_out_of_memory_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(driver_out_of_memory_test);

}  // namespace
}  // namespace rowlock::test
