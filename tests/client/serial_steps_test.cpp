#include "client/base/serial_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class counted_steps final : public client_layer::serial_steps {
 public:
  void begin() { start(); }
  void cancel() { stop(); }
  using serial_steps::end;
  using serial_steps::is_over;
  using serial_steps::wait_for_step;
  using serial_steps::wake;

  std::function<void(int)> in_step = [](int) {};
  std::vector<std::function<void()>> awaited;  // the continuations for which the steps wait
  std::vector<std::string> log;
  bool ends = false;

 private:
  void step() override {
    const auto number = static_cast<int>(awaited.size());
    log.push_back("step " + std::to_string(number));
    awaited.push_back(next_step());
    in_step(number);
    if (ends) end();
  }
  void fail(const std::exception_ptr&) override { log.emplace_back("fail"); }
  void clear() noexcept override { log.emplace_back("clear"); }
};

class serial_steps_test : public testing::Test {
 protected:
  ~serial_steps_test() override { steps->awaited.clear(); }

  const std::shared_ptr<counted_steps> steps = std::make_shared<counted_steps>();
};

TEST_F(serial_steps_test, each_step_follows_what_the_one_before_waits_for) {
  steps->begin();
  EXPECT_THAT(steps->log, ElementsAre("step 0"));
  steps->awaited[0]();
  steps->awaited[0]();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "step 1")) << "what an earlier step waited for counts once";
  std::jthread{steps->awaited[1]}.join();
  EXPECT_EQ(steps->log.back(), "step 2");
}

TEST_F(serial_steps_test, what_comes_within_a_step_is_handled_behind_it) {
  steps->in_step = [&](int number) {
    if (number > 1) return;
    const auto next = steps->awaited.back();
    next();
    steps->log.emplace_back("end of " + std::to_string(number));
  };
  steps->begin();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "end of 0", "step 1", "end of 1", "step 2"));
}

TEST_F(serial_steps_test, a_stop_clears_once_and_nothing_follows) {
  steps->begin();
  steps->cancel();
  steps->cancel();
  steps->awaited[0]();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "clear"));
}

TEST_F(serial_steps_test, a_stop_within_a_step_clears_behind_it) {
  steps->in_step = [&](int) {
    steps->cancel();
    steps->log.emplace_back("end");
  };
  steps->begin();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "end", "clear"));
}

TEST_F(serial_steps_test, one_that_was_stopped_before_begins_nothing) {
  steps->cancel();
  steps->begin();
  EXPECT_THAT(steps->log, ElementsAre("clear"));
}

TEST_F(serial_steps_test, what_a_step_throws_ends_it) {
  steps->in_step = [](int) { throw std::runtime_error("no memory"); };
  steps->begin();
  steps->awaited[0]();
  steps->cancel();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "fail"));
}

TEST_F(serial_steps_test, nothing_follows_the_end) {
  steps->ends = true;
  steps->begin();
  steps->awaited[0]();
  steps->cancel();
  EXPECT_THAT(steps->log, ElementsAre("step 0"));
}

TEST_F(serial_steps_test, one_that_is_woken_takes_a_step_whatever_the_latest_one_waits_for) {
  steps->in_step = [&](int number) {
    if (number == 1) steps->wake();
    steps->log.push_back("end of " + std::to_string(number));
  };
  steps->begin();
  steps->wake();
  EXPECT_THAT(steps->log, ElementsAre("step 0", "end of 0", "step 1", "end of 1", "step 2", "end of 2"));
}

TEST_F(serial_steps_test, whoever_ends_it_can_wait_for_the_step_that_runs) {
  std::promise<void> begun;
  std::promise<void> may_end;
  steps->in_step = [&](int) {
    begun.set_value();
    EXPECT_FALSE(steps->wait_for_step()) << "it would wait for itself";
    may_end.get_future().wait();
    steps->log.emplace_back("end");
  };
  const std::jthread runs{[&] { steps->begin(); }};
  begun.get_future().wait();
  EXPECT_FALSE(steps->is_over());
  steps->end();
  EXPECT_TRUE(steps->is_over());
  steps->wake();
  auto waits = std::async(std::launch::async, [&] {
    EXPECT_TRUE(steps->wait_for_step());
    return steps->log;
  });
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds{50}), std::future_status::timeout);
  may_end.set_value();
  EXPECT_THAT(waits.get(), ElementsAre("step 0", "end"));
}

}  // namespace
}  // namespace rowlock::test
