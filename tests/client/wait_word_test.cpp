#include "client/base/wait_word.hpp"

#include "client/base/time_source.hpp"
#include "support/background.hpp"
#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class wait_word_test : public testing::Test {
 protected:
  client_layer::wait_word word;
};

TEST_F(wait_word_test, a_wake_up_after_the_look_ends_the_wait_at_once) {
  const auto seen = word.seen();
  word.wake_one();
  word.wait(seen);
  EXPECT_NE(word.seen(), seen);
}

TEST_F(wait_word_test, a_wait_lasts_until_its_time) {
  const auto seen = word.seen();
  auto& time = client_layer::system_time();
  word.wait(seen, 0s);
  word.wait(seen, -1s);
  const auto then = time.now() + 2ms;
  int waits = 0;
  for (; time.now() < then; ++waits) time.wait_until(word, seen, then);
  EXPECT_LT(waits, 50) << "it sleeps";
  EXPECT_EQ(word.seen(), seen);
}

TEST_F(wait_word_test, ends_with_the_virtual_clock) {
  virtual_time time;
  const auto then = time.now() + 1h;
  auto waits = in_background([&] {
    while (time.now() < then) time.wait_until(word, word.seen(), then);
  });
  time.advance(59min);
  EXPECT_NE(waits.wait_for(0s), std::future_status::ready);
  time.advance(1min);
  waits.get();
}

// Two threads pass a turn to and fro. If a wake-up were ever lost, neither would go on.
TEST_F(wait_word_test, no_wake_up_is_lost) {
  constexpr int turns = 20000;
  std::atomic<int> turn{0};
  client_layer::wait_word others;
  const auto play = [&](int mine, client_layer::wait_word& own, client_layer::wait_word& next) {
    for (int i = mine; i < turns; i += 2) {
      for (auto seen = own.seen(); turn.load() != i; seen = own.seen()) own.wait(seen);
      turn.store(i + 1);
      next.wake_one();
    }
  };
  auto second = in_background([&] { play(1, others, word); });
  play(0, word, others);
  second.get();
  EXPECT_EQ(turn.load(), turns);
}

TEST_F(wait_word_test, wakes_all) {
  std::atomic<bool> go_on{false};
  std::vector<std::future<void>> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.push_back(in_background([&] {
      for (auto seen = word.seen(); !go_on.load(); seen = word.seen()) word.wait(seen);
    }));
  }
  virtual_time::let_others_sleep();
  go_on.store(true);
  word.wake_all();
  for (auto& one : sleepers) one.get();
}

}  // namespace
}  // namespace rowlock::test
