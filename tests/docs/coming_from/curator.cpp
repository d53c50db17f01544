// The rows of docs/coming-from/curator.md.
#include "docs/coming_from/coming_from.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace rowlock::test {

TEST_P(coming_from_test, curator_mutexes) {
  rowlock::recursive_mutex report{db, "report"};
  rowlock::mutex elsewhere{other, "report"};
  {
    auto held = report.acquire();
    EXPECT_TRUE(report.acquire()) << "it is re-entrant";
    EXPECT_FALSE(elsewhere.try_acquire());
    std::stop_token lost = held.stop_token();
    EXPECT_FALSE(lost.stop_requested());
    with_a_waiter("report", [&] {
      auto waiters = report.waiters();
      EXPECT_EQ(waiters.size(), 1U);
    });
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
  }
  auto held = report.try_acquire_for(5s);
  EXPECT_TRUE(held);
  rowlock::mutex single{db, "single"};
  const auto first = single.acquire();
  EXPECT_FALSE(single.try_acquire()) << "it is not re-entrant";
}

TEST_P(coming_from_test, curator_revocation) {
  rowlock::mutex report{db, "report"};
  auto held = report.acquire();
  std::atomic<bool> finish{false};
  std::stop_callback asked{held.release_requested(), [&] { finish = true; }};
  const std::jthread operator_elsewhere{[&] {
    auto result = rowlock::admin{other}.request_release("report", {.reason = "deploy"});
    EXPECT_EQ(result, release_request_result::released);
  }};
  eventually("the holder is asked", [&] { return finish.load(); });
  EXPECT_EQ(held.request()->reason, "deploy");
  held.release();
}

TEST_P(coming_from_test, curator_node_data) {
  rowlock::recursive_mutex report{db, "report"};
  auto held = report.acquire();
  held.set_data("node a, shard 3");
  auto holders = rowlock::recursive_mutex(other, "report").holders();
  EXPECT_EQ(holders[0].data, "node a, shard 3");
  rowlock::counting_semaphore slots{db, "slots", 5};
  auto leases = slots.acquire(2);
  leases.set_data("shards 1 and 2");
  EXPECT_EQ(slots.holders().at(0).data, "shards 1 and 2");
}

TEST_P(coming_from_test, curator_sharing) {
  rowlock::shared_mutex catalog{db, "catalog"};
  rowlock::shared_mutex elsewhere{other, "catalog"};
  {
    auto writes = catalog.acquire();
    EXPECT_FALSE(elsewhere.try_acquire_shared());
    catalog.downgrade(writes);
    EXPECT_TRUE(elsewhere.try_acquire_shared());
  }
  auto reads = catalog.acquire_shared();
  EXPECT_TRUE(elsewhere.try_acquire_shared());
  EXPECT_FALSE(elsewhere.try_acquire());
  rowlock::recursive_shared_mutex book{db, "book"};
  book.lock();
  book.lock_shared();
  EXPECT_FALSE(rowlock::shared_mutex(other, "book").try_acquire_shared());
  book.unlock();
  EXPECT_TRUE(rowlock::shared_mutex(other, "book").try_acquire_shared());
  EXPECT_FALSE(rowlock::shared_mutex(other, "book").try_acquire());
  book.unlock_shared();
  rowlock::counting_semaphore slots{db, "slots", 8};
  {
    auto leases = slots.acquire(2);
    EXPECT_EQ(slots.available(), 6);
    slots.release(leases, 1);
    EXPECT_EQ(slots.available(), 7);
  }
  slots.resize(10);
  EXPECT_TRUE(rowlock::counting_semaphore(other, "slots", 10).try_acquire(10));
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  auto all = rowlock::try_acquire_all_for(5s, {a, b});
  EXPECT_EQ(all.size(), 2U);
  EXPECT_FALSE(rowlock::mutex(other, "b").try_acquire());
}

TEST_P(coming_from_test, curator_async_wrappers) {
  rowlock::mutex single{db, "single"};
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  std::promise<bool> one;
  const auto done = [&](const rowlock::acquired& got) { one.set_value(static_cast<bool>(got)); };
  rowlock::acquire_async(pool, single, done);
  EXPECT_TRUE(one.get_future().get());
  std::promise<rowlock::acquired_all> all;
  const auto granted = [&](rowlock::acquired_all got) { all.set_value(std::move(got)); };
  rowlock::acquire_all_async(pool, {a, b}, granted);
  auto both = all.get_future().get();
  ASSERT_TRUE(both);
  EXPECT_FALSE(rowlock::mutex(other, "b").try_acquire());
  both.holds.release();
  std::promise<bool> again;
  const auto answered = [&](const rowlock::acquired_all& got) { again.set_value(static_cast<bool>(got)); };
  rowlock::try_acquire_all_async(pool, {a, b}, 5s, answered);
  EXPECT_TRUE(again.get_future().get());
}

TEST_P(coming_from_test, curator_leaders) {
  rowlock::election office{db, "office"};
  rowlock::election elsewhere{other, "office"};
  auto term = office.campaign();
  term.proclaim("10.0.0.7");
  bool leads = term.valid();
  EXPECT_TRUE(leads);
  EXPECT_FALSE(elsewhere.try_campaign());
  std::string leader = elsewhere.observe().value;
  EXPECT_EQ(leader, "10.0.0.7");
  term.resign();
  EXPECT_FALSE(elsewhere.observe().led);
  EXPECT_TRUE(elsewhere.try_campaign_for(5s));
}

TEST_P(coming_from_test, curator_listeners) {
  rowlock::election office{db, "office"};
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  const auto begin = [&](rowlock::term& mine, const std::stop_token&) {
    if (mine.token().value() > 0) ++begun;
  };
  const auto end = [&](rowlock::loss) { ++ended; };
  const rowlock::executor pool = [](rowlock::task next) { next(); };
  rowlock::candidate leader{pool, office, {.elected = begin, .lost = end}};
  eventually("it is elected", [&] { return begun == 1; });
  auto participants = office.candidates();
  EXPECT_EQ(participants.size(), 1U);
  leader.resign();
  eventually("it is elected again", [&] { return begun == 2; });
  EXPECT_EQ(ended, 1);
  leader.close(rowlock::close_mode::tell);
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(office.candidates().empty());
}

TEST_P(coming_from_test, curator_barriers) {
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  const auto work_together = [&](const client& by) {
    rowlock::barrier meeting{by, "meeting", 2};
    ++inside;
    meeting.arrive_and_wait();
    EXPECT_EQ(inside, 2);
    ++done;
    meeting.arrive_and_wait();
    EXPECT_EQ(done, 2);
  };
  const std::jthread elsewhere{[&] { work_together(other); }};
  work_together(db);
}

TEST_P(coming_from_sql_test, curator_connects) {
  rowlock::options settings;
  settings.prefix = store->options().prefix;
  settings.ttl = 60s;
  rowlock::client locks = rowlock::connect(url, settings);
  EXPECT_GT(rowlock::mutex(locks, "report").acquire().remaining(), 30s);
  locks.close();
  EXPECT_THROW(std::ignore = rowlock::mutex(locks, "report").acquire(), rowlock::error);
}

}  // namespace rowlock::test
