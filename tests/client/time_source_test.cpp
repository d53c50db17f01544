#include "client/base/time_source.hpp"

#include "client/base/wait_word.hpp"

#include <gtest/gtest.h>

#include <thread>

#include <ctime>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;

TEST(time_source_test, reads_the_clock_that_goes_on_while_the_machine_sleeps) {
  const auto boot_time = [] {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return instant{std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec}};
  };
  const auto before = boot_time();
  const auto now = client_layer::system_time().now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, boot_time());
}

TEST(time_source_test, a_time_beyond_the_end_of_the_clock_is_its_end) {
  const auto now = instant{1h};
  EXPECT_EQ(client_layer::later(now, 1s), now + 1s);
  EXPECT_EQ(client_layer::later(now, std::chrono::nanoseconds::max()), instant::max());
  EXPECT_EQ(client_layer::later(now, instant::max() - now), instant::max());
}

TEST(time_source_test, a_wait_ends_with_its_time) {
  auto& time = client_layer::system_time();
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock{mutex};
  time.wait_until(lock, changed, time.now() - 1h);
  const auto then = time.now() + 2ms;
  while (time.now() < then) time.wait_until(lock, changed, then);
  EXPECT_TRUE(lock.owns_lock());
}

TEST(time_source_test, a_wait_ends_with_a_notification) {
  auto& time = client_layer::system_time();
  std::mutex mutex;
  std::condition_variable changed;
  bool notified = false;
  std::unique_lock lock{mutex};
  const std::jthread notifies{[&] {
    const std::lock_guard locked{mutex};
    notified = true;
    changed.notify_all();
  }};
  while (!notified) time.wait_until(lock, changed, instant::max());
}

// Nobody wakes a thread when the machine wakes up, and the clock of its wait has stood still.
TEST(time_source_test, a_wait_looks_at_the_time_again_every_two_seconds) {
  auto& time = client_layer::system_time();
  client_layer::wait_word never_changed;
  const auto began = time.now();
  time.wait_until(never_changed, never_changed.seen(), began + 1h);
  EXPECT_LT(time.now() - began, 10s) << "even on a busy machine";
}

TEST(time_source_test, a_wait_that_it_cannot_end_may_take_as_long_as_wished) {
  EXPECT_EQ(client_layer::system_time().patience(7s), 7s);
}

}  // namespace
}  // namespace rowlock::test
