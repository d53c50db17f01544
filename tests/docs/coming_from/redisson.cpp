// The rows of docs/coming-from/redisson.md.
#include "docs/coming_from/coming_from.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

namespace rowlock::test {

TEST_P(coming_from_test, redisson_lock) {
  rowlock::recursive_mutex report{db, "report"};
  rowlock::recursive_mutex elsewhere{other, "report"};
  report.lock();
  EXPECT_FALSE(elsewhere.try_acquire());
  {
    const std::scoped_lock again{report};
    std::size_t depth = report.depth();
    EXPECT_EQ(depth, 2U);
  }
  report.unlock();
  {
    auto held = report.acquire({.ttl = 10s});
    rowlock::fencing_token token = held.token();
    auto left = held.remaining();
    EXPECT_LE(left, 10s);
    EXPECT_GT(left, 0s);
    EXPECT_FALSE(elsewhere.try_acquire_for(1ms));
    held.release();
    EXPECT_GT(elsewhere.acquire().token(), token);
  }
  {
    auto held = report.try_acquire();
    EXPECT_TRUE(held);
    EXPECT_FALSE(elsewhere.try_acquire());
  }
  {
    auto held = report.try_acquire_for(5s);
    EXPECT_TRUE(held);
  }
  {
    auto held = report.try_acquire_for(5s, {.ttl = 10s});
    EXPECT_LE(held.remaining(), 10s);
    EXPECT_TRUE(held);
  }
}

TEST_P(coming_from_test, redisson_loss_and_force) {
  rowlock::mutex report{db, "report"};
  const auto held = report.acquire();
  bool taken = report.is_locked();
  EXPECT_TRUE(taken);
  std::stop_token lost = held.stop_token();
  EXPECT_FALSE(lost.stop_requested());
  rowlock::admin{other}.release("report");
  eventually("the holder knows", [&] { return lost.stop_requested(); });
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_TRUE(rowlock::admin{other}.show("report")->holders.empty());
}

TEST_P(coming_from_test, redisson_fairness_and_async) {
  {
    rowlock::mutex turns{db, "turns"};
    auto held = turns.acquire();
    with_a_waiter("turns", [&] {
      held.release();
      EXPECT_FALSE(turns.try_acquire()) << "it was handed to the waiter";
    });
  }
  rowlock::mutex hot{db, "hot", {.fair = false}};
  const auto held = hot.acquire();
  EXPECT_FALSE(rowlock::admin{db}.show("hot")->fair);
  rowlock::mutex report{db, "report"};
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  std::atomic<bool> granted{false};
  const auto done = [&](const rowlock::acquired& got) { granted = static_cast<bool>(got); };
  rowlock::acquire_async(pool, report, done);
  eventually("it is granted", [&] { return granted.load(); });
  rowlock::hold night = rowlock::mutex(db, "night").acquire();
  std::atomic<bool> is_free{false};
  const auto told = [&](release_result result) { is_free = result == release_result::released; };
  rowlock::release_async(pool, std::move(night), told);
  eventually("it is released", [&] { return is_free.load(); });
}

TEST_P(coming_from_test, redisson_other_locks) {
  rowlock::shared_mutex catalog{db, "catalog"};
  {
    auto reads = catalog.acquire_shared();
    EXPECT_TRUE(rowlock::shared_mutex(other, "catalog").try_acquire_shared());
    EXPECT_FALSE(rowlock::shared_mutex(other, "catalog").try_acquire());
  }
  {
    auto writes = catalog.acquire();
    EXPECT_FALSE(rowlock::shared_mutex(other, "catalog").try_acquire_shared());
  }
  rowlock::recursive_shared_mutex book{db, "book"};
  book.lock();
  book.lock_shared();
  EXPECT_FALSE(rowlock::shared_mutex(other, "book").try_acquire_shared());
  book.unlock();
  EXPECT_TRUE(rowlock::shared_mutex(other, "book").try_acquire_shared());
  EXPECT_FALSE(rowlock::shared_mutex(other, "book").try_acquire());
  book.unlock_shared();
  rowlock::counting_semaphore gpus{db, "gpus", 8};
  {
    auto permits = gpus.acquire(2);
    EXPECT_EQ(gpus.available(), 6);
    gpus.release(permits, 1);
    EXPECT_EQ(gpus.available(), 7);
  }
  gpus.resize_by(2);
  EXPECT_TRUE(rowlock::counting_semaphore(other, "gpus", 10).try_acquire(10));
  rowlock::latch loaded{db, "loaded", 2};
  std::jthread elsewhere{[&] { rowlock::latch(other, "loaded", 2).count_down(); }};
  loaded.count_down();
  loaded.wait();
  EXPECT_EQ(loaded.remaining(), 0);
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  std::atomic<bool> is_open{false};
  const auto opened = [&](const rowlock::waited& got) { is_open = got.open; };
  rowlock::wait_async(pool, loaded, opened);
  eventually("it is told", [&] { return is_open.load(); });
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  auto both = rowlock::acquire_all({a, b});
  EXPECT_FALSE(rowlock::mutex(other, "a").try_acquire());
  EXPECT_FALSE(rowlock::mutex(other, "b").try_acquire());
  EXPECT_EQ(both.size(), 2U);
  both.release();
  auto lease = rowlock::try_acquire_all_for(5s, {a, b}, {.ttl = 10s});
  EXPECT_LE(lease[1].remaining(), 10s);
}

TEST_P(coming_from_test, redisson_multi_lock_async) {
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  std::promise<rowlock::acquired_all> all;
  const auto granted = [&](rowlock::acquired_all got) { all.set_value(std::move(got)); };
  rowlock::acquire_all_async(pool, {a, b}, granted, {.ttl = 10s});
  auto both = all.get_future().get();
  ASSERT_TRUE(both);
  EXPECT_LE(both.holds[1].remaining(), 10s);
  EXPECT_FALSE(rowlock::mutex(other, "a").try_acquire());
  EXPECT_FALSE(rowlock::mutex(other, "b").try_acquire());
  both.holds.release();
  std::promise<rowlock::acquired_all> again;
  const auto answered = [&](rowlock::acquired_all got) { again.set_value(std::move(got)); };
  rowlock::try_acquire_all_async(pool, {a, b}, 5s, answered, {.ttl = 10s});
  const auto in_time = again.get_future().get();
  ASSERT_TRUE(in_time);
  EXPECT_LE(in_time.holds[0].remaining(), 10s);
}

TEST_P(coming_from_test, redisson_settings) {
  rowlock::options settings;
  settings.ttl = 30s;
  const auto held = rowlock::mutex(new_client(settings), "report").acquire();
  EXPECT_TRUE(held) << "it keeps its client open";
  EXPECT_LE(held.remaining(), 30s);
}

}  // namespace rowlock::test
