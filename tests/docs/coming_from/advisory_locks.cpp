// The rows of docs/coming-from/advisory-locks.md.
#include "docs/coming_from/coming_from.hpp"

#ifdef ROWLOCK_TEST_POSTGRES
#include <rowlock/guard/pqxx.hpp>
#endif

#include <future>
#include <optional>

namespace rowlock::test {

TEST_P(coming_from_test, advisory_locks_of_a_session) {
  rowlock::mutex report{db, "report"};
  rowlock::mutex elsewhere{other, "report"};
  {
    auto held = report.acquire();
    EXPECT_FALSE(elsewhere.try_acquire());
    auto info = rowlock::admin{other}.show("report");
    EXPECT_EQ(info->holders.size(), 1U);
    EXPECT_GT(info->holders.at(0).pid, 0);
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
  }
  {
    auto held = report.try_acquire();
    EXPECT_TRUE(held);
  }
  {
    auto held = report.try_acquire_for(5s);
    EXPECT_TRUE(held);
    rowlock::admin{other}.release("report");
    eventually("the holder knows", [&] { return !held.valid(); });
  }
  rowlock::shared_mutex catalog{db, "catalog"};
  {
    auto reads = catalog.acquire_shared();
    auto more = rowlock::shared_mutex(other, "catalog").try_acquire_shared();
    EXPECT_TRUE(more);
  }
  rowlock::recursive_mutex again{db, "again"};
  again.lock();
  again.lock();
  again.unlock();
  EXPECT_FALSE(rowlock::mutex(other, "again").try_acquire());
  again.unlock();
  EXPECT_TRUE(rowlock::mutex(other, "again").try_acquire_for(20s));
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  {
    auto all = rowlock::acquire_all({a, b});
    EXPECT_EQ(all.size(), 2U);
  }
  const auto last = a.acquire();
  db.close();
  EXPECT_TRUE(rowlock::mutex(other, "a").try_acquire_for(20s));
}

TEST_P(coming_from_test, advisory_locks_in_a_circle) {
  rowlock::mutex a{db, "a"};
  rowlock::mutex b{db, "b"};
  const auto first = a.acquire();
  const auto crossing = std::async(std::launch::async, [&] {
    const auto second = rowlock::mutex(other, "b").acquire();
    EXPECT_TRUE(rowlock::mutex(other, "a").try_acquire_for(60s));
  });
  eventually("the other waits", [&] { return !rowlock::admin{db}.queue("a").empty(); });
  std::optional<errc> refusal;
  try {
    auto held = b.acquire({.detect_deadlock = true});
  } catch (const rowlock::error& thrown) {
    refusal = thrown.kind();
  }
  EXPECT_EQ(refusal, errc::deadlock);
  ASSERT_TRUE(rowlock::admin{db}.release("a"));
}

TEST_P(coming_from_sql_test, advisory_locks_from_a_shell) {
  const auto held = rowlock::mutex(db, "report").acquire();
  EXPECT_THAT(shell("rowlock list").out, testing::HasSubstr("report"));
  EXPECT_EQ(shell("rowlock release report --force").exit_code, 0);
  eventually("the holder knows", [&] { return !held.valid(); });
}

#ifdef ROWLOCK_TEST_POSTGRES
TEST_P(coming_from_postgres_test, advisory_locks_of_a_transaction) {
  pqxx::connection connection{url};
  const auto held = rowlock::mutex(db, "report").acquire();
  {
    pqxx::work transaction{connection};
    rowlock::guard(transaction, held);
    transaction.commit();
  }
  ASSERT_TRUE(rowlock::admin{other}.release("report"));
  pqxx::work transaction{connection};
  EXPECT_THROW(rowlock::guard(transaction, held), rowlock::error);
}
#endif

}  // namespace rowlock::test
