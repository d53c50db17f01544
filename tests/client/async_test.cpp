// Asynchronous acquires, on every store.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <tuple>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

int threads_of_this_process() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    int count = 0;
    if (word == "Threads:" && status >> count) return count;
  }
  return 0;
}

std::string name_of_this_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

class async_test : public client_test {
 protected:
  // Returns what a wait has come to, by running the executor in this thread.
  acquired settle(const std::function<void(std::function<void(acquired)>)>& begin) {
    acquired got;
    int calls = 0;
    begin([&](acquired one) {
      got = std::move(one);
      ++calls;
    });
    EXPECT_TRUE(by_hand.run_one());
    EXPECT_EQ(calls, 1);
    return got;
  }
  // On SQLite the first transaction of each session raises the next tokens.
  void raise_floors() {
    for (const client& one : {db, other}) mutex(one, "first").acquire().release();
  }
  bool free_soon(const std::string& name = "a") {
    return eventually([&] { return !is_held(name) && queued(name) == 0; });
  }

  hand_executor by_hand;
  client db = new_client();
  client other = new_client();
};

// ---- with a function

TEST_P(async_test, gives_a_hold_to_a_function) {
  auto got = settle([&](auto done) { acquire_async(by_hand.get(), mutex{db, "a"}, done); });
  ASSERT_TRUE(got);
  EXPECT_FALSE(got.failure);
  EXPECT_TRUE(got.hold.valid());
  EXPECT_EQ(got.hold.id().to_string(), holder_of("a"));
  EXPECT_EQ(got.hold.token(), token_of("a"));
  EXPECT_EQ(got.hold.release(), release_result::released);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(async_test, calls_the_function_on_the_executors_thread_and_the_executor_on_its_own) {
  loop runs;
  std::promise<std::pair<std::thread::id, std::string>> called;
  const executor where = [&, post = runs.get()](rowlock::task next) {
    post([&called, next = std::move(next), thread = name_of_this_thread()]() mutable {
      next();
      called.set_value({std::this_thread::get_id(), thread});
    });
  };
  acquire_async(where, mutex{db, "a"}, [](const acquired& got) { EXPECT_TRUE(got); });
  const auto [thread, caller] = called.get_future().get();
  EXPECT_EQ(thread, runs.id());
  EXPECT_EQ(caller, "rowlock-async");
  EXPECT_TRUE(free_soon()) << "the function has dropped it";
}

TEST_P(async_test, takes_every_lock_that_can_be_wanted) {
  const shared_mutex rates{db, "rates"};
  const counting_semaphore slots{db, "slots", 8};
  election office{db, "office"};
  const auto read = settle([&](auto done) { acquire_async(by_hand.get(), shared(rates), done); });
  const auto three = settle([&](auto done) { acquire_async(by_hand.get(), permits(slots, 3), done); });
  auto leads = settle([&](auto done) { acquire_async(by_hand.get(), office, done); });
  ASSERT_TRUE(read && three && leads);
  EXPECT_EQ(three.hold.weight(), 3);
  EXPECT_TRUE(shared_mutex(other, "rates").try_acquire_shared());
  EXPECT_FALSE(shared_mutex(other, "rates").try_acquire());
  EXPECT_FALSE(counting_semaphore(other, "slots", 8).try_acquire(6));
  term mine{std::move(leads.hold)};
  mine.proclaim("here");
  EXPECT_EQ(election(other, "office").observe().value, "here");
}

TEST_P(async_test, busy_is_empty) {
  const hold held = mutex(other, "a").acquire();
  for (const auto timeout : {0ns, -1ns}) {
    const auto got = settle([&](auto done) {
      try_acquire_async(by_hand.get(), mutex{db, "a"}, timeout, done);
    });
    EXPECT_FALSE(got);
    EXPECT_FALSE(got.failure);
    EXPECT_EQ(queued("a"), 0U);
  }
  EXPECT_TRUE(settle([&](auto done) { try_acquire_async(by_hand.get(), mutex{db, "b"}, 0ns, done); }));
}

TEST_P(async_test, is_granted_within_its_time) {
  auto held = std::make_optional(mutex(other, "a").acquire());
  acquired got;
  try_acquire_async(by_hand.get(), mutex{db, "a"}, 1h, [&](acquired one) { got = std::move(one); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  EXPECT_EQ(by_hand.size(), 0U);
  held.reset();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got);
  EXPECT_EQ(got.hold.id().to_string(), holder_of("a"));
}

TEST_P(async_test, a_time_that_is_up_leaves_nothing) {
  const hold held = mutex(other, "a").acquire();
  const auto got = settle([&](auto done) { try_acquire_async(by_hand.get(), mutex{db, "a"}, 30ms, done); });
  EXPECT_FALSE(got);
  EXPECT_FALSE(got.failure);
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

// By itself the watchdog looks four times a second.
TEST_P(async_test, short_times_are_not_longer_than_they_are) {
  const hold held = mutex(other, "a").acquire();
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(settle([&](auto done) { try_acquire_async(by_hand.get(), mutex{db, "a"}, 5ms, done); }));
    // The first wait may begin just before the watchdog looks; the others would begin just after.
    if (i > 0) shortest = std::min(shortest, std::chrono::steady_clock::now() - began);
  }
  EXPECT_LT(shortest, 200ms);
}

TEST_P(async_test, a_stop_cancels_and_leaves_nothing) {
  const hold held = mutex(other, "a").acquire();
  std::stop_source stop;
  std::vector<acquired> got;
  const auto done = [&](acquired one) { got.push_back(std::move(one)); };
  acquire_async(by_hand.get(), mutex{db, "a"}, done, {.stop = stop.get_token()});
  try_acquire_async(by_hand.get(), mutex{db, "a"}, 1h, done, {.stop = stop.get_token()});
  ASSERT_TRUE(eventually([&] { return queued("a") == 2; }));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one() && by_hand.run_one());
  int cancelled = 0;
  for (const auto& one : got) {
    EXPECT_FALSE(one);
    if (one.failure && one.failure->code() == errc::cancelled) ++cancelled;
  }
  EXPECT_EQ(cancelled, 1) << "the timed one is empty";
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
}

// More than an edit reads of a queue, so that those who leave are decided in several edits.
TEST_P(async_test, many_may_leave_at_once) {
  raise_floors();
  constexpr std::size_t many = 150;
  static_assert(many > 2 * store::queue_window);
  auto held = std::make_optional(mutex(other, "a").acquire());
  const auto token = held->token().value();
  std::stop_source stop;
  std::atomic<std::size_t> cancelled = 0;
  loop runs;
  const mutex a{db, "a"};
  for (std::size_t i = 0; i < many; ++i) {
    acquire_async(runs.get(), a,
                  [&](const acquired& got) {
                    if (got.failure && got.failure->code() == errc::cancelled) ++cancelled;
                  },
                  {.stop = stop.get_token()});
  }
  ASSERT_TRUE(eventually([&] { return queued("a") == many; }));
  auto behind = waiting(other, "a");
  stop.request_stop();
  EXPECT_TRUE(eventually([&] { return cancelled == many; }));
  EXPECT_TRUE(eventually([&] { return queued("a") == 1; }));
  held.reset();
  EXPECT_EQ(behind.take().token().value(), token + 1);
}

TEST_P(async_test, what_was_stopped_before_it_began_asks_for_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const auto got = settle([&](auto done) {
    acquire_async(by_hand.get(), mutex{db, "a"}, done, {.stop = stop.get_token()});
  });
  ASSERT_TRUE(got.failure);
  EXPECT_EQ(got.failure->code(), errc::cancelled);
  EXPECT_THAT(admin(other).list(), IsEmpty());
}

TEST_P(async_test, what_is_granted_beside_a_stop_is_told_or_given_back) {
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    acquired got;
    acquire_async(by_hand.get(), mutex{db, "a"}, [&](acquired one) { got = std::move(one); },
                  {.stop = stop.get_token()});
    stop.request_stop();
    ASSERT_TRUE(by_hand.run_one());
    EXPECT_NE(got.hold.valid(), got.failure.has_value());
  }
  EXPECT_EQ(by_hand.size(), 0U);
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(async_test, says_what_was_wrong) {
  counting_semaphore(other, "a", 3).acquire().release();
  const auto got = settle([&](auto done) { acquire_async(by_hand.get(), mutex{db, "a"}, done); });
  EXPECT_FALSE(got);
  ASSERT_TRUE(got.failure);
  EXPECT_EQ(got.failure->code(), errc::mismatch);
}

TEST_P(async_test, refuses_at_once_what_cannot_be_right) {
  const mutex a{db, "a"};
  const auto never = [](const acquired&) { ADD_FAILURE() << "it was refused"; };
  EXPECT_EQ(code_of([&] { acquire_async({}, a, never); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_async(by_hand.get(), a, {}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_async(by_hand.get(), a, never, {.ttl = 1ms}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { acquire_async(by_hand.get(), a, never, {.detect_deadlock = true}); }),
            errc::invalid_argument);
  client closed = db;
  closed.close();
  EXPECT_EQ(code_of([&] { acquire_async(by_hand.get(), a, never); }), errc::closed);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_P(async_test, is_granted_in_turn_among_those_who_wait_with_a_thread) {
  raise_floors();
  auto held = std::make_optional(mutex(other, "a").acquire());
  std::vector<hold> got;
  const auto done = [&](acquired one) { got.push_back(std::move(one.hold)); };
  acquire_async(by_hand.get(), mutex{db, "a"}, done);
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  auto second = waiting(db, "a");
  acquire_async(by_hand.get(), mutex{db, "a"}, done);
  ASSERT_TRUE(eventually([&] { return queued("a") == 3; }));
  const auto token = held->token().value();
  held.reset();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(got.back().token().value(), token + 1);
  got.clear();
  EXPECT_EQ(second.take().token().value(), token + 2);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(got.back().token().value(), token + 3);
}

// Thousands on the store that costs nothing: each enters the queue, and is handed the lock, by a statement of its own.
TEST_P(async_test, thousands_wait_without_a_thread_each) {
  const std::size_t many = GetParam() == "memory" ? 2000 : 200;
  loop runs;
  {
    std::promise<void> warm;
    acquire_async(runs.get(), mutex{db, "b"}, [&](const acquired&) { warm.set_value(); });
    warm.get_future().wait();
  }
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto threads = threads_of_this_process();
  const auto first = held->token().value() + 1;
  std::vector<std::int64_t> tokens(many);
  std::atomic<std::size_t> over = 0;
  const mutex a{db, "a"};
  for (std::size_t i = 0; i < many; ++i) {
    acquire_async(runs.get(), a, [&tokens, &over, i](const acquired& got) {
      tokens[i] = got ? got.hold.token().value() : 0;
      ++over;
    });
  }
  ASSERT_TRUE(eventually([&] { return db.stats().waits >= many; }));
  EXPECT_LE(threads_of_this_process(), threads);
  EXPECT_EQ(over, 0U);
  held.reset();
  ASSERT_TRUE(eventually([&] { return over == many; }));
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_EQ(tokens[i], first + static_cast<std::int64_t>(i)) << "in the order of asking";
  }
  EXPECT_TRUE(free_soon());
}

TEST_P(async_test, what_an_executor_drops_is_given_back) {
  acquire_async(by_hand.get(), mutex{db, "a"}, [](const acquired&) { ADD_FAILURE() << "it was dropped"; });
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_TRUE(is_held("a"));
  by_hand.drop_next();
  EXPECT_TRUE(free_soon());
}

TEST_P(async_test, what_an_executor_throws_is_logged_and_the_grant_given_back) {
  std::mutex log;
  std::vector<std::string> errors;
  auto settings = patient();
  settings.log = [&](log_level level, std::string_view text) {
    const std::lock_guard lock{log};
    if (level == log_level::error) errors.emplace_back(text);
  };
  client told = new_client(settings);
  std::vector<rowlock::task> kept;
  const executor broken = [&](rowlock::task next) {
    kept.push_back(std::move(next));
    throw std::runtime_error("no room");
  };
  const auto never = [](const acquired&) { ADD_FAILURE() << "the executor has failed"; };
  acquire_async(broken, mutex{told, "a"}, never);
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock{log};
    return !errors.empty();
  }));
  EXPECT_TRUE(free_soon());
  kept.front()();
  told.close();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors.front(), testing::HasSubstr("no room"));
}

TEST_P(async_test, is_logged_on_the_logs_thread_even_if_its_first_call_was_stopped_before) {
  std::promise<std::string> thread;
  auto settings = patient();
  settings.log = [&](log_level level, std::string_view) {
    if (level == log_level::error) thread.set_value(name_of_this_thread());
  };
  client told = new_client(settings);
  const executor broken = [](rowlock::task) { throw std::runtime_error("no room"); };
  std::stop_source stop;
  stop.request_stop();
  acquire_async(broken, mutex{told, "a"}, [](const acquired&) { ADD_FAILURE() << "the executor has failed"; },
                {.stop = stop.get_token()});
  EXPECT_EQ(thread.get_future().get(), "rowlock-log");
  told.close();
}

TEST_P(async_test, of_a_client_that_only_reads_is_refused_even_if_it_was_stopped_before) {
  auto settings = patient();
  settings.read_only = true;
  const client reader = new_client(settings);
  std::stop_source stop;
  stop.request_stop();
  const acquire_options stopped{.stop = stop.get_token()};
  const auto never = [](const auto&) { ADD_FAILURE() << "it was refused"; };
  EXPECT_EQ(code_of([&] {
              acquire_async(by_hand.get(), mutex{reader, "a"}, never, stopped);
            }),
            errc::read_only);
  EXPECT_EQ(code_of([&] {
              acquire_all_async(by_hand.get(), {mutex{reader, "a"}, mutex{reader, "b"}}, never, stopped);
            }),
            errc::read_only);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(reader, "a").acquire(stopped); }), errc::read_only);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_P(async_test, an_executor_may_throw_anything) {
  std::atomic<bool> logged{false};
  auto settings = patient();
  settings.log = [&](log_level level, std::string_view text) {
    if (level == log_level::error && text.find("not a std::exception") != text.npos) logged.store(true);
  };
  client told = new_client(settings);
  const executor broken = [](rowlock::task) { throw 1; };
  acquire_async(broken, mutex{told, "a"},
                [](const acquired&) { ADD_FAILURE() << "the executor has failed"; });
  EXPECT_TRUE(eventually([&] { return logged.load(); }));
  EXPECT_TRUE(free_soon());
  told.close();
}

TEST_P(async_test, an_executor_that_is_busy_holds_up_no_lock) {
  std::promise<void> entered;
  std::promise<void> let_go;
  std::promise<void> over;
  const executor busy = [&](rowlock::task next) {
    entered.set_value();
    let_go.get_future().wait();
    next();
  };
  const client quick = new_client(quick_to_renew());
  acquire_async(busy, mutex{quick, "a"}, [&](const acquired&) { over.set_value(); });
  entered.get_future().wait();
  EXPECT_TRUE(mutex(quick, "b").try_acquire_for(20s)) << "others of this client go on";
  const hold lost = mutex(quick, "c").acquire();
  EXPECT_TRUE(admin(other).release("c"));
  EXPECT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); })) << "and hear of their losses";
  let_go.set_value();
  over.get_future().wait();
  EXPECT_TRUE(free_soon());
}

TEST_P(async_test, an_executor_may_run_it_at_once) {
  const executor at_once = [](rowlock::task next) { next(); };
  std::promise<int> finished;
  const mutex a{db, "a"};
  acquire_async(at_once, a, [&](acquired first) {
    EXPECT_TRUE(first);
    first.hold.release();
    acquire_async(at_once, a, [&](const acquired& second) {
      EXPECT_TRUE(second);
      finished.set_value(2);
      throw std::runtime_error("nobody's business but the executor's");
    });
  });
  EXPECT_EQ(finished.get_future().get(), 2);
  EXPECT_TRUE(free_soon());
}

// ---- the client's end

TEST_P(async_test, a_client_that_closes_ends_its_waits) {
  const hold held = mutex(other, "a").acquire();
  std::vector<acquired> got;
  const auto done = [&](acquired one) { got.push_back(std::move(one)); };
  acquire_async(by_hand.get(), mutex{db, "a"}, done);
  try_acquire_async(by_hand.get(), mutex{db, "a"}, 1h, done);
  ASSERT_TRUE(eventually([&] { return queued("a") == 2; }));
  db.close();
  EXPECT_EQ(by_hand.size(), 2U) << "the executor has been asked before close() returns";
  ASSERT_TRUE(by_hand.run_one() && by_hand.run_one());
  for (const auto& one : got) {
    ASSERT_TRUE(one.failure);
    EXPECT_EQ(one.failure->code(), errc::closed);
  }
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
}

TEST_P(async_test, a_wait_does_not_keep_its_client_open) {
  const hold held = mutex(other, "a").acquire();
  auto leaving = std::make_optional(new_client());
  acquired got;
  acquire_async(by_hand.get(), mutex{*leaving, "a"}, [&](acquired one) { got = std::move(one); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  leaving.reset();
  ASSERT_TRUE(by_hand.run_one());
  ASSERT_TRUE(got.failure);
  EXPECT_EQ(got.failure->code(), errc::closed);
}

TEST_P(async_test, a_hold_that_waits_for_its_turn_ends_with_the_client) {
  acquired got;
  acquire_async(by_hand.get(), mutex{db, "a"}, [&](acquired one) { got = std::move(one); });
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  db.close();
  EXPECT_FALSE(is_held("a"));
  by_hand.run_next();
  ASSERT_FALSE(got.failure);
  EXPECT_FALSE(got.hold.valid());
  EXPECT_EQ(got.hold.loss(), loss::closed);
}

TEST_P(async_test, a_hold_that_was_delivered_keeps_its_client_open) {
  std::optional<client> last = new_client();
  hold held;
  acquire_async(by_hand.get(), mutex{*last, "a"}, [&](acquired one) { held = std::move(one.hold); });
  ASSERT_TRUE(by_hand.run_one());
  last.reset();
  EXPECT_TRUE(held);
  EXPECT_TRUE(is_held("a"));
  held = {};
  EXPECT_FALSE(is_held("a"));
}

TEST_P(async_test, a_hold_may_close_its_client_on_the_thread_that_delivers_it) {
  std::optional<client> last = new_client();
  std::promise<void> delivered;
  std::promise<void> over;
  const executor at_once = [](rowlock::task next) { next(); };
  std::promise<void> gone;
  acquire_async(at_once, mutex{*last, "a"}, [&, gone = gone.get_future().share()](acquired one) {
    delivered.set_value();
    gone.wait();
    one = {};  // the last handle ends on the client's own thread
    over.set_value();
  });
  delivered.get_future().wait();  // from here on the hold keeps the client open
  last.reset();
  gone.set_value();
  EXPECT_EQ(over.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(async_test, a_release_of_the_last_handle_is_told) {
  std::promise<release_result> told;
  release_async([](rowlock::task next) { next(); }, mutex{new_client(), "a"}.acquire(),
                [&](release_result result) { told.set_value(result); });
  EXPECT_EQ(told.get_future().get(), release_result::released);
  EXPECT_FALSE(is_held("a"));
  release_async(mutex{new_client(), "b"}.acquire());
  EXPECT_FALSE(is_held("b"));
}

TEST_P(async_test, a_task_may_own_what_cannot_be_copied) {
  int calls = 0;
  rowlock::task next = [&calls, owned = std::make_unique<int>(3)] { calls += *owned; };
  static_assert(!std::is_copy_constructible_v<rowlock::task> &&
                std::is_nothrow_move_constructible_v<rowlock::task>);
  EXPECT_TRUE(next);
  rowlock::task moved = std::move(next);
  moved();
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(rowlock::task{});
}

TEST_P(async_test, beside_close_each_is_told_once_or_refused) {
  for (int round = 0; round < 5; ++round) {
    loop runs;
    client closing = new_client();
    std::atomic<int> begun = 0;
    std::atomic<int> told = 0;
    std::vector<std::jthread> workers;
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back([&, i, wanted = rowlock::wanted{mutex{closing, "a" + std::to_string(i % 2)}}] {
        try {
          for (;;) {
            // Within the limit of holds, which counts requests, too.
            while (begun - told > 10'000) std::this_thread::yield();
            try_acquire_async(runs.get(), wanted, i == 0 ? 1ms : 1h, [&](const acquired&) { ++told; });
            ++begun;
          }
        } catch (const error& refused) {
          EXPECT_EQ(refused.code(), errc::closed);
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return told > 3; }));
    closing.close();
    workers.clear();
    EXPECT_TRUE(eventually([&] { return told == begun; })) << told << " of " << begun;
  }
}

// ---- coroutines

job take_one_after_another(executor where, client on, std::vector<std::thread::id>& threads) {
  const mutex a{on, "a"};
  const shared_mutex rates{on, "rates"};
  const counting_semaphore slots{on, "slots", 4};
  for (int i = 0; i < 2; ++i) {
    const hold first = co_await acquire_on(where, a);
    threads.push_back(std::this_thread::get_id());
    const auto second = co_await try_acquire_on(where, shared(rates), 1h);
    const hold third = co_await acquire_on(where, permits(slots, 2), {.ttl = 1h});
    threads.push_back(std::this_thread::get_id());
    EXPECT_TRUE(first.valid() && second && third.valid());
    EXPECT_EQ(third.weight(), 2);
    EXPECT_FALSE(co_await try_acquire_on(where, a, 0s));
  }
}

TEST_P(async_test, a_coroutine_awaits_one_lock_after_another) {
  std::vector<std::thread::id> threads;
  const auto work = take_one_after_another(by_hand.get(), db, threads);
  while (!work.is_over()) ASSERT_TRUE(by_hand.run_one());
  EXPECT_NO_THROW(work.rethrow());
  EXPECT_THAT(threads, ElementsAreArray(std::vector(4, std::this_thread::get_id())));
  for (const auto* name : {"a", "rates", "slots"}) EXPECT_TRUE(free_soon(name)) << name;
}

job keep_one(executor where, wanted lock, hold& kept, acquire_options how = {}) {
  kept = co_await acquire_on(std::move(where), std::move(lock), std::move(how));
}

TEST_P(async_test, a_coroutine_is_thrown_what_acquire_throws) {
  counting_semaphore(other, "b", 3).acquire().release();
  const hold held = mutex(other, "a").acquire();
  hold kept;
  std::stop_source stop;
  const auto cancelled = keep_one(by_hand.get(), mutex{db, "a"}, kept, {.stop = stop.get_token()});
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(code_of([&] { cancelled.rethrow(); }), errc::cancelled);
  const auto mismatched = keep_one(by_hand.get(), mutex{db, "b"}, kept);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(code_of([&] { mismatched.rethrow(); }), errc::mismatch);
  const auto waits = keep_one(by_hand.get(), mutex{db, "a"}, kept);
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  db.close();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(code_of([&] { waits.rethrow(); }), errc::closed);
  const auto refused = keep_one(by_hand.get(), mutex{db, "a"}, kept);
  EXPECT_TRUE(refused.is_over()) << "without being suspended";
  EXPECT_EQ(code_of([&] { refused.rethrow(); }), errc::closed);
  EXPECT_FALSE(kept);
}

job count_empty(executor where, client on, std::stop_token stop, int& empty) {
  const mutex a{on, "a"};
  if (!co_await try_acquire_on(where, a, 20ms)) ++empty;
  const acquire_options how{.stop = stop};
  if (!co_await try_acquire_on(where, a, 1h, how)) ++empty;
}

TEST_P(async_test, a_timed_attempt_of_a_coroutine_is_empty) {
  const hold held = mutex(other, "a").acquire();
  std::stop_source stop;
  int empty = 0;
  const auto attempts = count_empty(by_hand.get(), db, stop.get_token(), empty);
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_EQ(empty, 1);
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  stop.request_stop();
  ASSERT_TRUE(by_hand.run_one());
  EXPECT_NO_THROW(attempts.rethrow());
  EXPECT_TRUE(attempts.is_over());
  EXPECT_EQ(empty, 2);
}

TEST_P(async_test, a_coroutine_that_is_destroyed_leaves_the_queue) {
  const hold held = mutex(other, "a").acquire();
  hold kept;
  std::stop_source stop;
  auto waits = std::make_optional(keep_one(by_hand.get(), mutex{db, "a"}, kept, {.stop = stop.get_token()}));
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  waits.reset();
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; }));
  stop.request_stop();
  db.close();
  EXPECT_EQ(by_hand.size(), 0U) << "nobody is told";
}

TEST_P(async_test, a_coroutine_that_is_destroyed_before_it_goes_on_gives_back_what_it_was_granted) {
  hold kept;
  auto granted = std::make_optional(keep_one(by_hand.get(), mutex{db, "a"}, kept));
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_TRUE(is_held("a"));
  granted.reset();
  EXPECT_TRUE(free_soon());
  by_hand.run_next();
  EXPECT_FALSE(kept);
}

TEST_P(async_test, a_coroutine_whose_executor_dropped_it_has_no_hold_either) {
  hold kept;
  const auto stuck = keep_one(by_hand.get(), mutex{db, "a"}, kept);
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_TRUE(is_held("a"));
  by_hand.drop_next();
  EXPECT_TRUE(free_soon()) << "though it still stands there";
  EXPECT_FALSE(stuck.is_over());
}

TEST_P(async_test, what_is_granted_beside_the_end_of_a_coroutine_is_given_back) {
  for (int i = 0; i < 20; ++i) {
    hold kept;
    std::make_optional(keep_one(by_hand.get(), mutex{db, "a"}, kept)).reset();
    EXPECT_FALSE(kept);
  }
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
  while (by_hand.size() > 0) by_hand.run_next();
  EXPECT_TRUE(free_soon());
}

TEST_P(async_test, an_awaitable_that_is_not_awaited_asks_for_nothing) {
  { const auto unused = acquire_on(by_hand.get(), mutex{db, "a"}); }
  EXPECT_EQ(db.stats().statements, 0U);
}

ROWLOCK_FOR_EACH_STORE(async_test);

}  // namespace
}  // namespace rowlock::test
