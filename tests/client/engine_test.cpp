// The client inside a host process: threads, signals, forks, connections that hang.
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {
namespace {

struct task {
  std::string id;
  std::string name;
  std::uint64_t blocked_signals = 0;
};

std::vector<task> rowlock_tasks() {
  std::vector<task> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    task one;
    one.id = entry.path().filename();
    std::ifstream status{entry.path() / "status"};
    for (std::string word; status >> word;) {
      if (word == "Name:") status >> one.name;
      if (word == "SigBlk:") status >> std::hex >> one.blocked_signals;
    }
    if (one.name.starts_with("rowlock-")) found.push_back(one);
  }
  return found;
}

// How many threads of rowlock began after those: an earlier test's client may have threads that are about to end.
std::size_t tasks_besides(const std::vector<task>& earlier) {
  std::set<std::string> known;
  for (const auto& one : earlier) known.insert(one.id);
  return static_cast<std::size_t>(
      std::ranges::count_if(rowlock_tasks(), [&](const task& one) { return !known.contains(one.id); }));
}

// Whether the call throws error(forked), and does so before it does anything else: it might wait for a mutex that
// nobody unlocks in the child.
template <class Call>
bool is_refused_as_forked(const Call& call) {
  try {
    call();
    return false;
  } catch (const error& thrown) {
    return thrown.code() == errc::forked &&
           std::string_view{thrown.what()}.starts_with("this client was made by process");
  }
}

// The number of the last of these calls that is not refused in a forked child; 0: all are. The child uses nothing of
// GoogleTest.
int not_refused_in_a_forked_child(const std::vector<std::function<void()>>& calls) {
  // If another thread were in a sanitizer's allocator at this moment, the allocator would stay locked in the child.
  virtual_time::let_others_sleep();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a call that is wrongly not refused may wait for ever
    int failed = 0;
    int number = 0;
    for (const auto& call : calls) {
      ++number;
      if (!is_refused_as_forked(call)) failed = number;
    }
    ::_exit(failed);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

class engine_test : public client_test {};

TEST_P(engine_test, starts_its_threads_with_the_first_acquire) {
  const auto before = rowlock_tasks();
  client db = new_client();
  EXPECT_TRUE(eventually([&] { return tasks_besides(before) == 0; })) << "the connecting thread ends";
  const hold held = mutex(db, "a").acquire();
  EXPECT_GT(tasks_besides(before), 0U);
  db.close();
  EXPECT_TRUE(eventually([&] { return tasks_besides(before) == 0; })) << "all end with the client";
}

TEST_P(engine_test, blocks_all_signals_in_its_threads) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  for (const auto& one : rowlock_tasks()) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD,
                             SIGIO, SIGPROF, SIGWINCH, SIGRTMIN, SIGRTMAX}) {
      EXPECT_TRUE(one.blocked_signals & (std::uint64_t{1} << (signal - 1))) << one.name << ", " << signal;
    }
  }
}

TEST_P(engine_test, leaves_the_callers_signals_as_they_were) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMAX; ++signal) {
    EXPECT_EQ(::sigismember(&before, signal), ::sigismember(&after, signal)) << signal;
  }
}

TEST_P(engine_test, in_a_forked_child_every_call_says_so_and_the_parent_keeps_its_holds) {
  std::optional<client> db = new_client();
  hold held = mutex(*db, "a").acquire();
  std::optional<mutex> locked{std::in_place, *db, "b"};
  locked->lock();
  shared_mutex reading{*db, "d"};
  reading.lock_shared();
  const recursive_mutex counted{*db, "e"};
  quorum_mutex majority{{*db}, "f"};
  const candidate leader{[](rowlock::task next) { next(); },
                         election(*db, "g"),
                         {.elected = [](term&, const std::stop_token&) {}}};
  // With this call the parent has all of its threads.
  const executor directly = [](rowlock::task next) { next(); };
  std::promise<void> told;
  acquire_async(directly, mutex(*db, "h"), [&](const acquired&) { told.set_value(); });
  told.get_future().wait();
  // If another thread were in a sanitizer's allocator at this moment, the allocator would stay locked in the child.
  virtual_time::let_others_sleep();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A call that is wrongly not refused may wait for ever.
    ::alarm(60);
    // The child uses nothing of GoogleTest: it only returns which check failed.
    int failed = 0;
    int number = 0;
    const auto check = [&](const auto& call) {
      ++number;
      if (!is_refused_as_forked(call)) failed = number;
    };
    check([&] { std::ignore = mutex(*db, "c").acquire(); });
    check([&] { std::ignore = mutex(*db, "c").try_acquire(); });
    check([&] { std::ignore = recursive_mutex(*db, "a").acquire(); });
    check([&] { std::ignore = admin(*db).list(); });
    check([&] { admin(*db).release("a"); });
    check([&] { held.release(); });
    check([&] { locked->lock(); });
    check([&] { std::ignore = locked->current_hold(); });
    check([&] { reading.lock_shared(); });
    check([&] { std::ignore = reading.try_lock_shared(); });
    check([&] { std::ignore = reading.current_hold(); });
    check([&] { std::ignore = counted.depth(); });
    check([&] { std::ignore = majority.try_acquire(); });
    check([&] { std::ignore = leader.state(); });
    check([&] { std::ignore = held.release_requested(); });
    check([&] { std::ignore = held.request(); });
    check([&] { acquire_async(directly, mutex(*db, "c"), [](const acquired&) {}); });
    check([&] { std::ignore = barrier(*db, "i", 2).arrive_and_wait(); });
    check([&] { arrive_async(directly, barrier(*db, "i", 2), [](const arrived&) {}); });
    check([&] { std::ignore = latch(*db, "j", 1).wait_for(1s); });
    check([&] { latch(*db, "j", 1).count_down(); });
    check([&] { wait_async(directly, latch(*db, "j", 1), [](const waited&) {}); });
    check([&] { std::ignore = counting_semaphore(*db, "k", 2).acquire(); });
    check([&] { std::ignore = acquire_all({mutex(*db, "c"), mutex(*db, "l")}); });
    check([&] {
      acquire_all_async(directly, {mutex(*db, "c"), mutex(*db, "l")}, [](const acquired_all&) {});
    });
    check([&] { std::ignore = held.transfer(1min); });
    if (held.stop_token().stop_possible()) failed = ++number;
    check([&] { release_async(directly, std::move(held), [](release_result) {}); });
    db->close();
    locked.reset();
    held = {};
    db.reset();
    ::_exit(failed);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the check that failed";
  EXPECT_TRUE(held);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  EXPECT_EQ(holder_of("b"), locked->current_hold().id().to_string());
  reading.unlock_shared();
  EXPECT_EQ(held.release(), release_result::released) << "its connections are as they were";
  EXPECT_TRUE(mutex(*db, "c").try_acquire());
}

TEST_P(engine_test, in_a_forked_child_every_change_of_a_hold_says_so) {
  client db = new_client();
  shared_mutex catalog{db, "a"};
  counting_semaphore slots{db, "b", 3};
  hold written = catalog.acquire();
  hold permits = slots.acquire(2);
  hold_set several = acquire_all({mutex(db, "c"), mutex(db, "d")});
  const std::string offered = mutex(db, "e").acquire().transfer(1min);
  const std::string receipt = written.receipt();
  EXPECT_EQ(not_refused_in_a_forked_child({
                [&] { written.set_data("text"); },
                [&] { catalog.downgrade(written); },
                [&] { std::ignore = catalog.try_upgrade(written); },
                [&] { slots.release(permits, 1); },
                [&] { slots.resize(4); },
                [&] { std::ignore = slots.resize_by(1); },
                [&] { std::ignore = several.release(); },
                [&] { std::ignore = adopt(db, offered); },
                [&] { std::ignore = extend(db, offered); },
                [&] { std::ignore = reclaim(db, receipt); },
            }),
            0);
  EXPECT_TRUE(written);
  EXPECT_TRUE(several);
  EXPECT_EQ(permits.release(), release_result::released) << "its connections are as they were";
}

// The child must learn that the client is not its own, whatever has become of the hold.
TEST_P(engine_test, in_a_forked_child_a_change_of_a_hold_that_has_expired_says_so) {
  client db = new_client();
  shared_mutex catalog{db, "a"};
  counting_semaphore slots{db, "b", 3};
  hold written = catalog.acquire({.ttl = 300ms});
  hold permits = slots.acquire(2, {.ttl = 300ms});
  ASSERT_TRUE(eventually([&] { return !written && !permits; }));
  EXPECT_EQ(not_refused_in_a_forked_child({
                [&] { written.set_data("text"); },
                [&] { catalog.downgrade(written); },
                [&] { std::ignore = catalog.try_upgrade(written); },
                [&] { slots.release(permits, 1); },
            }),
            0);
}

TEST_P(engine_test, in_a_forked_child_a_recursive_shared_mutex_says_so) {
  client db = new_client();
  recursive_shared_mutex entered{db, "a"};
  entered.lock();
  EXPECT_EQ(not_refused_in_a_forked_child({
                [&] { entered.lock(); },
                [&] { std::ignore = entered.try_lock(); },
                [&] { std::ignore = entered.try_lock_for(1s); },
                [&] { entered.lock_shared(); },
                [&] { std::ignore = entered.try_lock_shared(); },
                [&] { std::ignore = entered.try_lock_shared_for(1s); },
                [&] { std::ignore = entered.current_hold(); },
                [&] { std::ignore = entered.write_depth(); },
                [&] { std::ignore = entered.read_depth(); },
                [&] { std::ignore = entered.is_locked(); },
            }),
            0);
  EXPECT_EQ(entered.write_depth(), 1U);
  entered.unlock();
}

TEST_P(engine_test, a_client_that_only_reads_refuses_what_writes) {
  const client writer = new_client();
  const hold held = mutex(writer, "a").acquire();
  const std::string offered = mutex(writer, "b").acquire().transfer(1min);
  auto settings = patient();
  settings.read_only = true;
  client db = new_client(settings);
  counting_semaphore slots{db, "c", 2};
  const std::vector<std::function<void()>> calls{
      [&] { std::ignore = mutex(db, "d").acquire(); },
      [&] { std::ignore = mutex(db, "d").try_acquire(); },
      [&] {
        std::ignore = try_acquire_all({mutex(db, "d"), mutex(db, "e")});
      },
      [&] { std::ignore = admin{db}.release("a"); },
      [&] { slots.resize(3); },
      [&] { std::ignore = slots.resize_by(1); },
      [&] { std::ignore = adopt(db, offered); },
      [&] { std::ignore = extend(db, offered); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(code_of(calls[i]), errc::read_only) << i;
  EXPECT_TRUE(admin{db}.show("a"));
  EXPECT_FALSE(admin{db}.show("c"));
  EXPECT_TRUE(held);
}

TEST_P(engine_test, a_guard_that_is_alive_at_a_fork_ends_in_the_child_without_harm) {
  client db = new_client();
  mutex a{db, "a"};
  shared_mutex b{db, "b"};
  recursive_mutex c{db, "c"};
  std::optional<std::scoped_lock<mutex>> one{std::in_place, a};
  std::optional<std::shared_lock<shared_mutex>> two{std::in_place, b};
  std::optional<std::unique_lock<recursive_mutex>> three{std::in_place, c};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    one.reset();
    two.reset();
    three.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(is_held(name)) << name;
  one.reset();
  two.reset();
  three.reset();
  for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(is_held(name)) << name;
}

TEST_P(engine_test, a_forked_child_may_make_a_client_of_its_own) {
  const client db = new_client();
  const hold held = mutex(db, "a").acquire();
  // The memory store lives in one process, and SQLite's locks do not survive a fork.
  if (!fixture().can(test::capability::backends)) GTEST_SKIP() << "needs a server";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int failed = 1;
    try {
      auto settings = patient();
      settings.prefix = fixture().options().prefix;
      client own = connect(fixture().url(), settings);
      const bool kept_out = !mutex(own, "a").try_acquire();
      const bool granted = mutex(own, "b").try_acquire().valid();
      own.close();
      failed = kept_out && granted ? 0 : 2;
    } catch (...) {
      failed = 3;
    }
    ::_exit(failed);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(held);
}

TEST_P(engine_test, counts_what_it_does) {
  client db = new_client();
  mutex a{db, "a"};
  hold held = a.acquire();
  std::ignore = a.try_acquire();
  auto waiter = waiting(db, "a");
  held.release();
  waiter.take().release();
  const auto stats = db.stats();
  EXPECT_EQ(stats.acquired, 2U);
  EXPECT_EQ(stats.released, 2U);
  EXPECT_EQ(stats.busy, 1U);
  EXPECT_EQ(stats.waits, 1U);
  EXPECT_EQ(stats.hand_overs, 1U) << "the second release finds no waiter";
  EXPECT_EQ(stats.lost, 0U);
  EXPECT_EQ(stats.reconnects, 0U);
  EXPECT_EQ(stats.waited.count(), 2U);
  EXPECT_EQ(stats.held.count(), 2U);
}

TEST_P(engine_test, logs_through_the_callers_function_and_survives_one_that_throws) {
  std::atomic<int> lines{0};
  auto settings = patient();
  settings.log = [&](log_level, std::string_view line) {
    ++lines;
    if (!line.empty()) throw std::runtime_error("a log that fails");
  };
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  db.close();
  EXPECT_GT(lines.load(), 0) << "at least the loss of a hold is logged";
  EXPECT_EQ(held.loss(), loss::closed);
}

ROWLOCK_FOR_EACH_STORE(engine_test);

// While the object lives, this process can start this many threads and no more: its memory has no room for another
// stack.
class room_for_threads {
 public:
  explicit room_for_threads(rlim_t count) {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t large = before_;
    ::pthread_attr_setstacksize(&large, stack);
    ::pthread_setattr_default_np(&large);
    ::getrlimit(RLIMIT_AS, &limit_);
    rlim_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    auto lower = limit_;
    lower.rlim_cur =
        pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + count * (stack + heap) + stack / 4;
    ::setrlimit(RLIMIT_AS, &lower);
  }
  ~room_for_threads() {
    ::setrlimit(RLIMIT_AS, &limit_);
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  room_for_threads(const room_for_threads&) = delete;
  room_for_threads& operator=(const room_for_threads&) = delete;

 private:
  static constexpr rlim_t stack = rlim_t{2} << 30;
  static constexpr rlim_t heap = rlim_t{200} << 20;  // more than a thread needs beside its stack

  pthread_attr_t before_{};
  rlimit limit_{};
};

class missing_thread_test : public virtual_client_test {
 protected:
  missing_thread_test() {
    EXPECT_TRUE(eventually([] { return rowlock_tasks().empty(); })) << "of other tests";
  }

  static std::multiset<std::string> threads() {
    std::multiset<std::string> names;
    for (auto& one : rowlock_tasks()) names.insert(std::move(one.name));
    names.erase("rowlock-dial");  // one for each attempt to connect
    return names;
  }
  client new_client_with_a_log() {
    auto settings = calm();
    settings.log = [](log_level, std::string_view) {};
    return new_client(settings);
  }
};

TEST_F(missing_thread_test, is_an_error_and_is_started_by_the_next_call) {
  std::multiset<std::string> all;
  {
    const client db = new_client_with_a_log();
    mutex(db, "a").acquire().release();
    // A thread that connects has the name of the thread that started it at first.
    ASSERT_TRUE(eventually([&] { return (all = threads()).size() == 6; })) << testing::PrintToString(all);
  }
  for (std::size_t room = 0; room < all.size(); ++room) {
    SCOPED_TRACE(room);
    ASSERT_TRUE(eventually([] { return rowlock_tasks().empty(); }));
    const client db = new_client_with_a_log();
    {
      const room_for_threads limited{room};
      EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire(); }), errc::unreachable);
      EXPECT_TRUE(eventually([&] { return threads().size() == room; }));
      EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").try_acquire(); }), errc::unreachable);
    }
    EXPECT_EQ(holder_of("a"), "");
    EXPECT_TRUE(mutex(db, "a").acquire());
    EXPECT_TRUE(eventually([&] { return threads() == all; })) << testing::PrintToString(threads());
  }
}

// Connections on which nothing answers, as behind a firewall that drops packets.
class black_hole_test : public virtual_client_test {
 protected:
  client db = new_client();
};

TEST_F(black_hole_test, is_noticed_by_the_renewal_before_the_lease_ends) {
  const hold held = mutex(db, "a").acquire();
  faults.hang("renew");
  advance(10s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(5'250ms);
  ASSERT_TRUE(soon([&] { return db.stats().renewals >= 1; }));
  EXPECT_TRUE(held);
  EXPECT_EQ(db.stats().reconnects, 1U);
}

TEST_F(black_hole_test, is_noticed_by_an_acquire_within_the_statement_timeout) {
  mutex(db, "a").acquire().release();
  faults.hang("acquire");
  attempt asked{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(5s);
  EXPECT_EQ(server->blocked(), 1U) << "the server's own timeout would come first";
  advance(250ms);
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_TRUE(asked.take());
}

TEST_F(black_hole_test, a_try_acquire_ends_with_an_error_and_holds_nothing) {
  mutex(db, "a").acquire().release();
  faults.hang("acquire");
  auto tried = in_background([&] { return code_of([&] { std::ignore = mutex(db, "a").try_acquire(); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() >= 1; }));
  faults.cut(true);
  ASSERT_TRUE(eventually([&] {
    advance(50ms);
    return tried.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_EQ(tried.get(), errc::unreachable);
  faults.cut(false);
  server->unblock();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(black_hole_test, holds_up_no_renewal_while_it_swallows_an_acquire) {
  const hold held = mutex(db, "a").acquire();
  mutex(db, "b").acquire().release();
  faults.hang("acquire");
  attempt asked{db, "b"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  pass_renewals(db);
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace rowlock::test
