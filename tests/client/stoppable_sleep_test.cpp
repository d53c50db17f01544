#include "client/base/stoppable_sleep.hpp"

#include "support/background.hpp"
#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <future>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class stoppable_sleep_test : public testing::Test {
 protected:
  std::future<bool> sleeper(std::chrono::nanoseconds length, const std::stop_token& stop = {}) {
    return in_background(
        [this, until = time.now() + length, stop] { return pauses.sleep_until(until, stop); });
  }

  virtual_time time;
  client_layer::stoppable_sleep pauses{time};
};

TEST_F(stoppable_sleep_test, lasts_until_its_time_and_no_longer) {
  EXPECT_TRUE(pauses.sleep_until(time.now()));
  auto sleeps = sleeper(10ms);
  time.advance(9ms);
  EXPECT_NE(sleeps.wait_for(0s), std::future_status::ready);
  time.advance(1ms);
  EXPECT_TRUE(sleeps.get());
}

TEST_F(stoppable_sleep_test, ends_with_its_stop_token_and_no_other_pause_does) {
  std::stop_source stop;
  auto stopped = sleeper(1h, stop.get_token());
  auto other = sleeper(1h);
  stop.request_stop();
  EXPECT_FALSE(stopped.get());
  EXPECT_NE(other.wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(pauses.sleep_until(time.now() + 1h, stop.get_token())) << "it was stopped before";
  time.advance(1h);
  EXPECT_TRUE(other.get());
}

TEST_F(stoppable_sleep_test, close_ends_all_pauses_present_and_future) {
  auto one = sleeper(1h);
  auto other = sleeper(2h);
  EXPECT_FALSE(pauses.is_closed());
  pauses.close();
  EXPECT_TRUE(pauses.is_closed());
  EXPECT_FALSE(one.get());
  EXPECT_FALSE(other.get());
  EXPECT_FALSE(pauses.sleep_until(time.now() + 1h));
  EXPECT_FALSE(pauses.sleep_until(time.now()));
}

}  // namespace
}  // namespace rowlock::test
