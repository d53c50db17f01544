// Other writers of the file: one that keeps its write lock, one that dies with it.
#include "sqlite_test.hpp"

#include "support/shortest_time.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using sqlite_contention_test = sqlite_test;

TEST_F(sqlite_contention_test, a_writer_that_keeps_the_lock_is_contention_after_the_statement_timeout) {
  auto session = ready();
  options_.statement_timeout = 50ms;
  auto hasty = connect();
  raw_sqlite application{path()};
  application.run("BEGIN IMMEDIATE");
  const auto took = shortest_time(
      1500ms, [&] { expect_error([&] { hasty->create_lease(lease()); }, errc::contention, "write lock"); });
  EXPECT_GE(took, 50ms);
  EXPECT_LT(took, 1500ms);
  EXPECT_NO_THROW(hasty->list()) << "readers go on";
  application.run("COMMIT");
  EXPECT_NO_THROW(hasty->create_lease(lease())) << "and so does the session afterwards";
}

TEST_F(sqlite_contention_test, a_writer_that_ends_in_time_is_waited_for) {
  auto session = ready();
  options_.statement_timeout = 20s;
  auto patient = connect();
  raw_sqlite application{path()};
  application.run("BEGIN IMMEDIATE");
  std::atomic<bool> done{false};
  std::jthread other{[&] {
    patient->set_skew(1ms);
    done = true;
  }};
  std::this_thread::sleep_for(20ms);  // the test does not wait for the thread: either order must do
  EXPECT_FALSE(done);
  application.run("COMMIT");
  other.join();
  EXPECT_TRUE(done);
}

// A request that the client repeats soon does not wait for a transaction whose end nobody knows.
TEST_F(sqlite_contention_test, a_transaction_that_keeps_the_lock_has_requests_skipped_and_leases_refused) {
  options_.statement_timeout = 20s;
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  const auto hold = store::hold_id::random();
  ASSERT_TRUE(acquire(*session, "a", mine.id, hold));
  raw_sqlite application{path()};
  application.run("BEGIN IMMEDIATE");
  const auto start = clock::now();
  EXPECT_FALSE(release(*session, "a", mine.id, hold));
  EXPECT_FALSE(acquire(*session, "b", mine.id, store::hold_id::random()));
  const store::edit_request edit{.name = "a", .about = {}, .decide = [](const store::lock_view&) {
                                   ADD_FAILURE() << "decided without the write lock";
                                   return store::lock_change{};
                                 }};
  EXPECT_EQ(session->edit({&edit, 1}), std::vector{store::edit_result::skipped});
  expect_error([&] { session->create_lease(lease()); }, errc::contention, "write lock");
  EXPECT_LT(clock::now() - start, 5s);
  application.run("COMMIT");
  EXPECT_TRUE(release(*session, "a", mine.id, hold));
}

// The store waits for writers that take turns, because each of them ends soon. On a busy machine one of them may have
// the lock for so long that the store does not wait; then the test tries again.
TEST_F(sqlite_contention_test, a_busy_file_has_nothing_skipped) {
  options_.statement_timeout = 20s;
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  raw_sqlite application{path()};
  application.run("PRAGMA busy_timeout = 20000; PRAGMA synchronous = OFF; CREATE TABLE t (x)");
  bool acquired = false;
  for (int tries = 0; tries < 20 && !acquired; ++tries) {
    std::atomic<bool> begun{false};
    auto longest_turn = 0ns;
    std::jthread other{[&] {
      application.run("BEGIN IMMEDIATE");
      begun = true;
      const auto until = clock::now() + 500ms;
      for (auto since = clock::now(); since < until;) {
        application.run("INSERT INTO t VALUES (1)");
        std::this_thread::sleep_for(5ms);
        application.run("COMMIT; BEGIN IMMEDIATE");  // so soon that nobody else gets the lock in between
        longest_turn = std::max<std::chrono::nanoseconds>(longest_turn, clock::now() - since);
        since = clock::now();
      }
      application.run("COMMIT");
    }};
    while (!begun) std::this_thread::yield();
    acquired = acquire(*session, "a", mine.id, store::hold_id::random()).has_value();
    other.join();
    ASSERT_TRUE(acquired || longest_turn >= 25ms) << "skipped, though nobody kept the lock for long";
  }
  EXPECT_TRUE(acquired);
}

TEST_F(sqlite_contention_test, interrupt_breaks_the_wait_for_the_lock) {
  options_.statement_timeout = 20s;
  auto session = ready();
  raw_sqlite application{path()};
  application.run("BEGIN IMMEDIATE");
  std::jthread other{[&] { session->interrupt(); }};
  const auto start = clock::now();
  const auto caught = error_of([&] { session->set_skew(1ms); });
  ASSERT_TRUE(caught);
  EXPECT_EQ(caught->code(), errc::unreachable);
  EXPECT_TRUE(caught->outcome_unknown());
  EXPECT_LT(clock::now() - start, 10s);
}

TEST_F(sqlite_contention_test, a_renewal_that_waited_reads_the_clock_after_it_has_the_lock) {
  options_.statement_timeout = 20s;
  auto session = ready();
  const auto mine = new_lease(*session);
  raw_sqlite application{path()};
  application.run("BEGIN IMMEDIATE");
  store::renewal_reply reply;
  std::atomic<bool> started{false};
  std::jthread other{[&] {
    started = true;
    reply = session->renew({&mine.id, 1});
  }};
  while (!started) std::this_thread::yield();
  // The lease is alive when the renewal is requested, and is not when the renewal gets the lock.
  const std::string now = sqlite_now_us;
  application.run("UPDATE rowlock_lease SET expires_at = " + now + " + 20000");
  while (application.number("SELECT expires_at > " + now + " FROM rowlock_lease") == 1)
    std::this_thread::yield();
  application.run("COMMIT");
  other.join();
  EXPECT_TRUE(reply.renewed.empty());
}

TEST_F(sqlite_contention_test, a_process_killed_inside_a_transaction_leaves_a_usable_file) {
  int ready_pipe[2];
  ASSERT_EQ(::pipe(ready_pipe), 0);
  // The fork happens before this process opens the file: a child would inherit what SQLite remembers of its locks.
  const pid_t child = ::fork();
  if (child == 0) {
    raw_sqlite raw{path()};
    raw.run(
        "PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE half (x);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        "INSERT INTO half SELECT randomblob(1000) FROM n");  // more than the cache holds, so the log contains frames
    [[maybe_unused]] const auto size = ::write(ready_pipe[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready_pipe[0], &byte, 1), 1);
  auto session = connect();
  EXPECT_EQ(raw_sqlite{path()}.ask("BEGIN IMMEDIATE").code, SQLITE_BUSY);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  session->record_database_state();
  const auto mine = new_lease(*session);
  create(*session, "a");
  EXPECT_TRUE(acquire(*session, "a", mine.id, store::hold_id::random()));
  EXPECT_EQ(raw_sqlite{path()}.ask("SELECT count(*) FROM half").code, SQLITE_ERROR) << "rolled back";
  EXPECT_EQ(raw_sqlite{path()}.ask("PRAGMA integrity_check").values, std::vector<std::string>{"ok"});
  ::close(ready_pipe[0]);
  ::close(ready_pipe[1]);
}

}  // namespace
}  // namespace rowlock::test
