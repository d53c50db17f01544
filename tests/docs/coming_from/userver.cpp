// The rows of docs/coming-from/userver.md.
#include "docs/coming_from/coming_from.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rowlock::test {

TEST_P(coming_from_sql_test, userver_set_up) {
  EXPECT_EQ(shell("rowlock migrate up").exit_code, 0);
  rowlock::options settings;
  const std::string prefix = store->options().prefix;
  settings.prefix = prefix;
  settings.ttl = 10s;
  settings.renew_interval = 1s;
  settings.poll_interval = 1s;
  settings.statement_timeout = 2s;
  settings.margin = 500ms;
  rowlock::client locks = rowlock::connect(url, settings);
  rowlock::mutex job{locks, "report"};
  EXPECT_LE(job.acquire().remaining(), 9'500ms) << "the margin is subtracted";
  EXPECT_GT(job.acquire().remaining(), 5s);
}

TEST_P(coming_from_test, userver_worker) {
  rowlock::election office{db, "master"};
  std::mutex guards_threads;
  std::vector<std::jthread> threads;
  const rowlock::executor pool = [&](rowlock::task next) {
    const std::lock_guard guard{guards_threads};
    threads.emplace_back(std::move(next));
  };
  std::atomic<int> terms{0};
  std::atomic<int> steps{0};
  std::atomic<bool> hurry{false};
  const auto do_work = [&](rowlock::term&, const std::stop_token& over) {
    if (++terms == 1) return;
    const auto step = [&] {
      ++steps;
      std::mutex unshared;
      std::unique_lock guard{unshared};
      std::condition_variable_any wake_up;
      wake_up.wait_for(guard, over, 1s, [] { return false; });
    };
    while (!over.stop_requested()) step();
    hurry = true;
  };
  rowlock::candidate worker{pool, office, {.elected = do_work, .until_return = true}};
  eventually("it works again after a return", [&] { return steps > 0; });
  bool owns = worker.state() == rowlock::candidate_state::leading;
  EXPECT_TRUE(owns);
  EXPECT_FALSE(rowlock::election(other, "master").try_campaign());
  worker.close();
  EXPECT_TRUE(hurry) << "it was told to stop";
  EXPECT_TRUE(rowlock::election(other, "master").try_campaign()) << "it is released";
}

TEST_P(coming_from_test, userver_worker_that_throws) {
  rowlock::election office{db, "master"};
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  std::atomic<int> terms{0};
  std::atomic<bool> failed{false};
  const auto do_work = [&](rowlock::term&, const std::stop_token&) {
    ++terms;
    throw std::runtime_error("no work");
  };
  const rowlock::candidate worker{
      pool, office, {.elected = do_work, .failed = [&](const std::exception_ptr&) { failed = true; }}};
  eventually("it is over", [&] { return failed.load(); });
  EXPECT_EQ(worker.state(), candidate_state::over);
  EXPECT_EQ(terms, 1);
  // The candidate does not wait for the release of its office.
  eventually("it is released",
             [&] { return static_cast<bool>(rowlock::election(other, "master").try_campaign()); });
}

TEST_P(coming_from_test, userver_task) {
  rowlock::mutex job{db, "report"};
  rowlock::mutex elsewhere{other, "report"};
  int runs = 0;
  const auto task = [&](const std::stop_token& over) {
    ++runs;
    EXPECT_FALSE(over.stop_requested());
    EXPECT_FALSE(elsewhere.try_acquire());
  };
  {
    auto held = job.acquire();
    task(held.stop_token());
    auto held_for = job.holders().at(0).held_for;
    EXPECT_GE(held_for, 0ms);
    rowlock::hold_id owner = held.id();
    EXPECT_EQ(elsewhere.holders().at(0).hold_id, owner);
    rowlock::fencing_token token = held.token();
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
    EXPECT_GT(elsewhere.acquire().token(), token);
  }
  if (auto held = job.try_acquire()) task(held.stop_token());
  EXPECT_EQ(runs, 2);
  {
    auto held = job.try_acquire_for(5s);
    EXPECT_TRUE(held);
  }
  {
    auto held = job.try_acquire({.ttl = 10s});
    EXPECT_LE(held.remaining(), 10s);
  }
  const auto holder = elsewhere.acquire();
  bool busy = !job.try_acquire();
  EXPECT_TRUE(busy);
  if (auto held = job.try_acquire()) task(held.stop_token());
  EXPECT_EQ(runs, 2) << "another one has the lock";
}

TEST_P(coming_from_sql_test, userver_table_by_hand) {
  rowlock::mutex master{db, "master"};
  const auto held = master.acquire();
  EXPECT_THAT(shell("rowlock list").out, testing::HasSubstr("master"));
  EXPECT_EQ(shell("rowlock queue master").exit_code, 0);
  EXPECT_EQ(shell("rowlock release master --force").exit_code, 0);
  eventually("the holder learns of it", [&] { return held.loss() == loss::forced; });
}

}  // namespace rowlock::test
