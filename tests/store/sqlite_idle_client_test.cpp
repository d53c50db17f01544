// A whole client on a file in which others write.
#include "sqlite_test.hpp"

#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class sqlite_idle_client_test : public sqlite_test {
 protected:
  // How often the threads of this name have gone to sleep by now.
  static long sleeps_of(const std::string& thread) {
    long sum = 0;
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
      std::string name;
      std::getline(std::ifstream{task.path() / "comm"}, name);
      if (name != thread) continue;
      std::ifstream status{task.path() / "status"};
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("voluntary_ctxt_switches:")) sum += std::stol(line.substr(line.find(':') + 1));
      }
    }
    return sum;
  }
  // How often the client's waiting thread went to sleep while somebody committed 200 times.
  long woken_by_others() {
    raw_sqlite raw{path()};
    raw.run("PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS noise (x)");
    const auto before = sleeps_of("rowlock-lease");
    for (int i = 0; i < 200; ++i) {
      raw.run("INSERT INTO noise VALUES (1)");
      std::this_thread::sleep_for(1ms);  // a commit that follows at once would not wake anybody again
    }
    return sleeps_of("rowlock-lease") - before;
  }
  // Whether the client's thread falls asleep: it stays awake for a moment after each hold.
  bool falls_asleep() {
    for (int i = 0; i < 30; ++i) {
      if (woken_by_others() < 20) return true;
    }
    return false;
  }
};

TEST_F(sqlite_idle_client_test, is_not_woken_by_others) {
  const client db = rowlock::connect("sqlite:" + path());
  mutex wanted{db, "a"};
  wanted.acquire().release();
  EXPECT_TRUE(falls_asleep());
}

TEST_F(sqlite_idle_client_test, hears_that_its_hold_was_released_by_force) {
  options patient;
  patient.ttl = 10min;  // so that no renewal tells it
  const client db = rowlock::connect("sqlite:" + path(), patient);
  const client other = rowlock::connect("sqlite:" + path());
  mutex wanted{db, "a"};
  wanted.acquire().release();
  ASSERT_TRUE(falls_asleep());
  // The first hold since the client's thread fell asleep.
  const auto held = wanted.acquire();
  EXPECT_TRUE(admin{other}.release("a"));
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (held.valid() && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(held.valid());
}

}  // namespace
}  // namespace rowlock::test
