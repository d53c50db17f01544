#include "store/sqlite/sqlite_watch.hpp"

#include "sqlite_test.hpp"

#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Commits again and again beside the store.
class busy_writer {
 public:
  explicit busy_writer(const std::string& path)
      : thread_{[this, path](const std::stop_token& stop) {
          raw_sqlite raw{path};
          // A reader that meets a half-written header takes the write lock for a moment.
          raw.run("PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF; CREATE TABLE noise (x)");
          while (!stop.stop_requested()) {
            raw.run("INSERT INTO noise VALUES (1)");
            ++commits_;
          }
        }} {
    while (commits_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  int commits() const { return commits_; }

 private:
  std::atomic<int> commits_{0};
  std::jthread thread_;
};

// SQLite's file system on a disk that takes long to sync the write-ahead log.
class slow_disk {
 public:
  explicit slow_disk(std::chrono::milliseconds sync_time) {
    sync_time_ = sync_time;
    system_ = *usual();
    system_.zName = "slow disk";
    system_.xOpen = open;
    sqlite3_vfs_register(&system_, 0);
  }
  ~slow_disk() { sqlite3_vfs_unregister(&system_); }
  slow_disk(const slow_disk&) = delete;
  slow_disk& operator=(const slow_disk&) = delete;

  const char* name() const { return system_.zName; }

 private:
  static sqlite3_vfs* usual() { return sqlite3_vfs_find(nullptr); }
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
    const int code = usual()->xOpen(usual(), name, file, flags, opened);
    if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
    sync_ = file->pMethods->xSync;
    log_ = *file->pMethods;
    log_.xSync = sync;
    file->pMethods = &log_;
    return code;
  }
  static int sync(sqlite3_file* file, int flags) {
    std::this_thread::sleep_for(sync_time_);
    return sync_(file, flags);
  }

  sqlite3_vfs system_{};
  static inline std::chrono::milliseconds sync_time_{0};
  static inline sqlite3_io_methods log_{};
  static inline int (*sync_)(sqlite3_file*, int) = nullptr;
};

void use_the_processor_for(std::chrono::nanoseconds time) {
  const auto used = [] {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
  };
  for (const auto until = used() + time; used() < until;) {
  }
}

class sqlite_wait_test : public sqlite_test {
 protected:
  // A session that has heard of everything that has happened so far.
  std::unique_ptr<store::session> listener() {
    auto session = connect();
    session->listen(store::lease_id::random());
    while (session->wait(0ns)) {
    }
    return session;
  }
  // How often this thread has gone to sleep of its own accord.
  static long sleeps() {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
  }
};

TEST_F(sqlite_wait_test, whoever_waits_for_nothing_is_not_woken_by_commits) {
  auto session = listener();
  busy_writer writer{path()};
  const auto until = clock::now() + 30s;
  const auto written = writer.commits();
  do {
    const auto slept = sleeps();
    EXPECT_FALSE(session->wait_idle(300ms));
    EXPECT_LT(sleeps() - slept, 10);
  } while (writer.commits() - written <= 20 && clock::now() < until);
  EXPECT_GT(writer.commits() - written, 20);
  EXPECT_TRUE(session->wait(0ns)) << "what was missed is reported later";
}

// Without the limit, the renewals of all clients would wake each client that only holds something.
TEST_F(sqlite_wait_test, whoever_only_holds_something_is_woken_twice_a_second) {
  auto session = listener();
  busy_writer writer{path()};
  EXPECT_TRUE(session->wait_holding(60s));
  const auto until = clock::now() + 30s;
  // If the machine pauses between two waits, the second one is short; if it pauses in a wait, there are few commits.
  for (bool is_shown = false; !is_shown;) {
    ASSERT_LT(clock::now(), until);
    const auto slept = sleeps();
    const auto written = writer.commits();
    const auto start = clock::now();
    EXPECT_TRUE(session->wait_holding(60s));
    const auto took = clock::now() - start;
    EXPECT_LT(took, 30s);
    EXPECT_LT(sleeps() - slept, 10);
    is_shown = took >= 400ms && writer.commits() - written > 20;
  }
}

TEST_F(sqlite_wait_test, a_holders_wait_can_be_ended) {
  auto session = listener();
  session->end_wait();
  const auto start = clock::now();
  EXPECT_FALSE(session->wait_holding(60s));
  EXPECT_LT(clock::now() - start, 30s);
}

TEST_F(sqlite_wait_test, an_idle_wait_can_be_ended) {
  auto session = listener();
  session->end_wait();
  const auto start = clock::now();
  EXPECT_FALSE(session->wait_idle(60s));
  EXPECT_LT(clock::now() - start, 30s);
}

// By default Linux gives a user 128 inotify instances.
TEST_F(sqlite_wait_test, whoever_waits_for_nothing_takes_no_inotify_instance) {
  const auto instances = [] {
    int count = 0;
    for (const auto& one : std::filesystem::directory_iterator{"/proc/self/fd"}) {
      std::error_code gone;
      count += std::filesystem::read_symlink(one, gone).string().find("inotify") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  const auto before = instances();
  auto session = listener();
  EXPECT_EQ(instances(), before + 1);
  session->wait_idle(0ns);
  EXPECT_EQ(instances(), before);
  session->wait(0ns);
  EXPECT_EQ(instances(), before + 1);
}

TEST_F(sqlite_wait_test, a_commit_of_another_connection_is_heard) {
  auto writer = ready();
  auto session = listener();
  for (int round = 0; round < 20; ++round) {
    std::jthread other{[&] { new_lease(*writer); }};
    const auto start = clock::now();
    EXPECT_TRUE(session->wait(20s));
    EXPECT_LT(clock::now() - start, 10s) << "not at the deadline";
    other.join();
    while (session->wait(0ns)) {
    }
  }
}

// Others see what is written to the log only when it is on disk.
TEST_F(sqlite_wait_test, a_commit_that_takes_the_disk_long_is_heard_soon_after) {
  const slow_disk disk{500ms};
  raw_sqlite writer{path(), disk.name()};
  writer.run("PRAGMA synchronous = OFF; CREATE TABLE noise (x); PRAGMA synchronous = FULL");
  auto session = listener();
  const auto start = clock::now();
  std::jthread other{[&] { writer.run("INSERT INTO noise VALUES (1)"); }};
  EXPECT_TRUE(session->wait(20s));
  EXPECT_GT(clock::now() - start, 500ms) << "the disk was not slow";
  EXPECT_LT(clock::now() - start, 10s) << "not at the deadline";
}

// This shows that the commit above was not found by looking now and then.
TEST_F(sqlite_wait_test, silence_is_slept_through) {
  auto session = listener();
  EXPECT_FALSE(session->wait(300ms)) << "the looks that follow the last write";
  const auto before = sleeps();
  EXPECT_FALSE(session->wait(500ms));
  EXPECT_LE(sleeps() - before, 4) << "a look every 50 ms would be ten";
}

TEST_F(sqlite_wait_test, a_commit_between_two_waits_is_not_missed) {
  auto writer = ready();
  auto session = listener();
  new_lease(*writer);
  EXPECT_TRUE(session->wait(0ns));
  EXPECT_FALSE(session->wait(0ns));
}

TEST_F(sqlite_wait_test, a_commit_is_heard_after_the_session_itself_has_read_it) {
  auto writer = ready();
  auto session = listener();
  new_lease(*writer);
  session->list();
  EXPECT_TRUE(session->wait(0ns));
}

TEST_F(sqlite_wait_test, silence_lasts_as_long_as_the_timeout) {
  auto session = listener();
  const auto start = clock::now();
  EXPECT_FALSE(session->wait(30ms));
  EXPECT_GE(clock::now() - start, 30ms);
}

TEST_F(sqlite_wait_test, wake_ends_a_wait_also_when_it_comes_first) {
  auto session = listener();
  session->end_wait();
  EXPECT_FALSE(session->wait(20s));
  std::jthread other{[&] { session->end_wait(); }};
  const auto start = clock::now();
  EXPECT_FALSE(session->wait(20s));
  EXPECT_LT(clock::now() - start, 10s);
}

TEST_F(sqlite_wait_test, interrupt_breaks_a_wait_and_the_session) {
  auto session = listener();
  std::jthread other{[&] { session->interrupt(); }};
  expect_error([&] { session->wait(20s); }, errc::unreachable);
  expect_error([&] { session->list(); }, errc::unreachable);
}

TEST_F(sqlite_wait_test, a_replaced_file_ends_the_wait) {
  auto session = listener();
  const std::string other = folder_.path() / "other.db";
  migrate_sqlite(other);
  std::jthread mover{[&] { std::filesystem::rename(other, path()); }};
  const auto start = clock::now();
  expect_error([&] { session->wait(20s); }, errc::unreachable, "replaced");
  EXPECT_LT(clock::now() - start, 10s);
}

TEST_F(sqlite_wait_test, a_busy_database_wakes_nobody_more_often_than_a_thousand_times_a_second) {
  auto session = listener();
  const busy_writer writer{path()};
  const auto start = clock::now();
  int woken = 0;
  while (clock::now() - start < 300ms || (woken <= 10 && clock::now() - start < 60s))
    woken += session->wait(1s) ? 1 : 0;
  EXPECT_GT(woken, 10);
  EXPECT_LE(woken, (clock::now() - start) / 1ms + 1);
  EXPECT_GT(writer.commits(), woken);
}

// A busy database must not wake a client so often that the client's reaction takes more than a twentieth of a core.
TEST_F(sqlite_wait_test, a_busy_database_wakes_the_busy_less_often) {
  auto session = listener();
  const busy_writer writer{path()};
  const auto start = clock::now();
  int woken = 0;
  while (clock::now() - start < 300ms || (woken <= 1 && clock::now() - start < 60s)) {
    if (!session->wait(1s)) continue;
    ++woken;
    use_the_processor_for(1ms);
  }
  EXPECT_GT(woken, 1);
  EXPECT_LE(woken, (clock::now() - start) / 20ms + 2);
}

// Nothing was written since the watch began, so the session does not look by itself.
TEST_F(sqlite_wait_test, a_watch_hears_that_a_side_file_is_deleted) {
  const auto beside = [&](const char* end) { return folder_.path() / (std::string{"watched"} + end); };
  for (const char* end : {"-wal", "-shm"}) std::ofstream{beside(end)} << "x";
  store::sqlite_watch watch{beside(""), beside("-wal")};
  watch.start();
  ASSERT_TRUE(watch.listens());
  using event = store::sqlite_watch::event;
  for (const char* end : {"-shm", "-wal"}) {
    EXPECT_EQ(watch.wait_until(clock::now()), event::timeout);
    std::filesystem::remove(beside(end));
    EXPECT_EQ(watch.wait_until(clock::now() + 10s), event::written) << end;
  }
}

TEST_F(sqlite_wait_test, a_watch_hears_the_log_also_when_it_is_created_later) {
  const std::string log = folder_.path() / "late-wal";
  store::sqlite_watch watch{folder_.path() / "late", log};
  watch.start();
  ASSERT_TRUE(watch.listens());
  using event = store::sqlite_watch::event;
  std::ofstream{folder_.path() / "unrelated"} << "x";
  EXPECT_EQ(watch.wait_until(clock::now()), event::timeout);
  std::ofstream file{log};
  EXPECT_EQ(watch.wait_until(clock::now() + 10s), event::written) << "created";
  file << "frame" << std::flush;
  EXPECT_EQ(watch.wait_until(clock::now() + 10s), event::written) << "written";
  EXPECT_EQ(watch.wait_until(clock::now()), event::timeout);
}

}  // namespace
}  // namespace rowlock::test
