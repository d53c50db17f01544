#include "model/call_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

using functions = model::call_list<std::function<void()>>;

class call_queue_test : public testing::Test {
 protected:
  bool put(std::function<void()> call) {
    return calls.put([&](functions& waiting) { waiting.all.push_back(std::move(call)); });
  }
  bool put(int number) {
    return put([this, number] { made.push_back(number); });
  }
  void run() {
    calls.run([](const auto& call) { call(); });
  }

  model::call_queue<functions> calls;
  std::vector<int> made;
};

TEST_F(call_queue_test, makes_all_calls_in_their_order_before_it_ends) {
  EXPECT_TRUE(put(1));
  EXPECT_TRUE(put([&] { EXPECT_TRUE(put(3)) << "a call may add another one"; }));
  calls.stop();
  EXPECT_TRUE(put(2)) << "its thread has not ended";
  EXPECT_THAT(made, ElementsAre());
  run();
  EXPECT_THAT(made, ElementsAre(1, 2, 3));
}

TEST_F(call_queue_test, makes_the_calls_in_its_own_thread_when_they_come) {
  std::jthread runs{[&] { run(); }};
  for (int i = 0; i < 2; ++i) {
    std::promise<std::thread::id> caller;
    EXPECT_TRUE(put([&] { caller.set_value(std::this_thread::get_id()); }));
    EXPECT_EQ(caller.get_future().get(), runs.get_id());
  }
  calls.stop();
}

TEST_F(call_queue_test, refuses_and_leaves_alone_what_comes_when_its_thread_has_ended) {
  calls.stop();
  run();
  auto kept = std::make_unique<int>(1);
  EXPECT_FALSE(calls.put([&](functions&) { kept.reset(); }));
  EXPECT_TRUE(kept);
}

TEST_F(call_queue_test, begins_no_call_when_it_was_told_to_drop_all) {
  EXPECT_TRUE(put([this] { calls.drop(); }));
  EXPECT_TRUE(put(1));
  std::jthread{[&] { run(); }}.join();
  EXPECT_FALSE(put(2));
  EXPECT_THAT(made, ElementsAre());
}

TEST_F(call_queue_test, destroys_each_call_before_the_next_one_with_no_mutex_locked) {
  struct noted {
    std::function<void()> end;
    ~noted() { end(); }
  };
  EXPECT_TRUE(put([this, end = std::shared_ptr<noted>{new noted{[this] { EXPECT_TRUE(put(3)); }}}] {
    made.push_back(1);
  }));
  EXPECT_TRUE(put(2));
  calls.stop();
  run();
  EXPECT_THAT(made, ElementsAre(1, 2, 3));
}

TEST_F(call_queue_test, goes_on_when_a_call_could_not_be_added) {
  EXPECT_THROW(calls.put([](functions&) { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_TRUE(put(1));
  calls.stop();
  run();
  EXPECT_THAT(made, ElementsAre(1));
}

}  // namespace
}  // namespace rowlock::test
