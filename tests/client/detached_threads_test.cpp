#include "client/base/detached_threads.hpp"

#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <string>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class detached_threads_test : public testing::Test {
 protected:
  struct owner {
    client_layer::detached_threads threads;
    std::promise<void> gone;
    ~owner() { gone.set_value(); }
  };
  // Starts a thread that runs until the test lets it end.
  void start() {
    owned->threads.start(
        "rowlock-detach", [may_end = std::shared_future{end.get_future()}] { may_end.wait(); }, owned);
  }

  client_layer::time_source& real = client_layer::system_time();
  virtual_time time;
  std::promise<void> end;
  std::shared_ptr<owner> owned = std::make_shared<owner>();
};

TEST_F(detached_threads_test, a_thread_has_its_name_and_takes_no_signal) {
  std::promise<std::string> name;
  std::promise<bool> blocks;
  owned->threads.start(
      "rowlock-detach",
      [&] {
        char read[16]{};
        ::pthread_getname_np(::pthread_self(), read, sizeof read);
        name.set_value(read);
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        blocks.set_value(::sigismember(&blocked, SIGTERM) == 1 && ::sigismember(&blocked, SIGUSR1) == 1);
      },
      owned);
  EXPECT_EQ(name.get_future().get(), "rowlock-detach");
  EXPECT_TRUE(blocks.get_future().get());
  EXPECT_EQ(owned->threads.wait_until(real, client_layer::later(real.now(), 1h)), 0);
}

TEST_F(detached_threads_test, one_that_waits_does_not_wait_for_itself) {
  std::promise<int> left;
  owned->threads.start(
      "rowlock-detach",
      [&] { left.set_value(owned->threads.wait_until(real, client_layer::later(real.now(), 30s))); }, owned);
  EXPECT_EQ(left.get_future().get(), 0);
}

TEST_F(detached_threads_test, each_role_has_one_thread) {
  std::atomic<int> started{0};
  for (const auto* role : {"one", "other", "one"}) {
    owned->threads.start_once(
        role, "rowlock-detach", [&] { ++started; }, owned);
  }
  EXPECT_EQ(owned->threads.wait_until(real, client_layer::later(real.now(), 1h)), 0);
  EXPECT_EQ(started.load(), 2);
}

TEST_F(detached_threads_test, a_wait_that_reaches_its_time_says_how_many_go_on) {
  EXPECT_EQ(owned->threads.wait_until(time, time.now()), 0);
  start();
  EXPECT_EQ(owned->threads.wait_until(time, time.now()), 1);
  end.set_value();
  EXPECT_EQ(owned->threads.wait_until(real, client_layer::later(real.now(), 1h)), 0);
}

TEST_F(detached_threads_test, a_thread_keeps_its_owner_alive_and_no_longer_than_it_runs) {
  auto gone = owned->gone.get_future();
  start();
  owned.reset();
  EXPECT_NE(gone.wait_for(0s), std::future_status::ready);
  end.set_value();
  EXPECT_EQ(gone.wait_for(1min), std::future_status::ready);
}

}  // namespace
}  // namespace rowlock::test
