#include "client/base/promised.hpp"

#include "support/background.hpp"
#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class promised_test : public testing::Test {
 protected:
  using text = std::optional<std::string>;

  static std::exception_ptr failure() {
    return std::make_exception_ptr(error(errc::contention, "no luck", "40001", true));
  }

  virtual_time time;
  client_layer::promised<std::string> answer;
};

TEST_F(promised_test, gives_the_first_result_and_no_other) {
  EXPECT_FALSE(answer.is_complete());
  EXPECT_TRUE(answer.complete("first"));
  EXPECT_FALSE(answer.complete("second"));
  EXPECT_FALSE(answer.fail(failure()));
  EXPECT_TRUE(answer.is_complete());
  EXPECT_EQ(answer.wait(time, {}), "first");
  EXPECT_FALSE(answer.is_given_up());
}

TEST_F(promised_test, throws_a_failure_whole_each_time_it_is_asked) {
  EXPECT_TRUE(answer.fail(failure()));
  for (const auto& ask : {std::function<void()>{[&] { answer.wait(time, {}); }}, {[&] { answer.take(); }}}) {
    try {
      ask();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::contention);
      EXPECT_STREQ(thrown.what(), "no luck");
      EXPECT_EQ(thrown.database_code(), "40001");
      EXPECT_TRUE(thrown.outcome_unknown());
    }
  }
}

TEST_F(promised_test, a_caller_that_leaves_still_gets_the_outcome) {
  answer.leave();
  EXPECT_TRUE(answer.is_leaving());
  EXPECT_FALSE(answer.is_complete());
  EXPECT_TRUE(answer.complete("outcome"));
  EXPECT_FALSE(answer.is_leaving());
  answer.leave();
  EXPECT_TRUE(answer.is_complete());
  EXPECT_EQ(answer.take(), "outcome");
}

TEST_F(promised_test, a_caller_that_has_given_up_does_not_come_back_to_leave) {
  answer.leave();
  EXPECT_TRUE(answer.give_up());
  EXPECT_FALSE(answer.give_up());
  answer.leave();
  EXPECT_TRUE(answer.is_given_up());
  EXPECT_FALSE(answer.is_leaving());
  EXPECT_FALSE(answer.complete("late"));
}

TEST_F(promised_test, can_be_taken_once) {
  EXPECT_EQ(answer.take(), text{});
  answer.complete("result");
  EXPECT_EQ(answer.take(), "result");
  EXPECT_EQ(answer.take(), text{});
}

TEST_F(promised_test, wakes_a_thread_that_waits) {
  auto waits = in_background([&] { return answer.wait(time, {}); });
  EXPECT_TRUE(answer.complete("result"));
  EXPECT_EQ(waits.get(), "result");
}

TEST_F(promised_test, a_result_that_comes_after_the_time_belongs_to_nobody) {
  EXPECT_EQ(answer.wait(time, time.now()), text{});
  EXPECT_TRUE(answer.is_given_up());
  EXPECT_FALSE(answer.complete("late"));
  EXPECT_EQ(answer.take(), text{});
}

TEST_F(promised_test, a_wait_ends_when_its_time_is_up) {
  auto waits = in_background([&, until = time.now() + 1s] { return answer.wait(time, until); });
  time.advance(999ms);
  EXPECT_NE(waits.wait_for(0s), std::future_status::ready);
  time.advance(1ms);
  EXPECT_EQ(waits.get(), text{});
}

TEST_F(promised_test, a_wait_ends_with_its_stop_token) {
  std::stop_source stop;
  auto waits = in_background([&] { return answer.wait(time, {}, stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(waits.get(), text{});
  EXPECT_TRUE(answer.is_given_up());
}

TEST_F(promised_test, a_caller_that_only_waited_a_while_still_gets_its_result) {
  EXPECT_EQ(answer.wait_a_while(time, time.now(), {}), text{});
  EXPECT_FALSE(answer.is_given_up());
  EXPECT_TRUE(answer.complete("later"));
  EXPECT_EQ(answer.wait(time, {}), "later");
}

TEST_F(promised_test, calls_the_continuation_once_and_under_no_mutex) {
  int called = 0;
  answer.on_complete([&] {
    ++called;
    EXPECT_TRUE(answer.is_complete());
    EXPECT_EQ(answer.take(), "result");
  });
  answer.complete("result");
  answer.complete("another");
  EXPECT_EQ(called, 1);
}

TEST_F(promised_test, who_gives_up_drops_the_continuation_and_learns_whether_a_result_came_before) {
  const auto kept = std::make_shared<int>();
  answer.on_complete([kept] { ADD_FAILURE() << "nobody waits any more"; });
  EXPECT_EQ(kept.use_count(), 2);
  EXPECT_TRUE(answer.give_up());
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(answer.complete("late"));

  client_layer::promised<std::string> other;
  other.complete("result");
  EXPECT_FALSE(other.give_up());
  EXPECT_FALSE(other.is_given_up());
  EXPECT_EQ(other.take(), "result");
}

TEST_F(promised_test, who_detaches_drops_the_continuation_and_whoever_works_on_it_goes_on) {
  answer.on_complete([] { ADD_FAILURE() << "nobody waits any more"; });
  EXPECT_TRUE(answer.detach());
  EXPECT_TRUE(answer.is_leaving());
  EXPECT_TRUE(answer.detach());
  EXPECT_TRUE(answer.complete("late"));
  EXPECT_FALSE(answer.detach());
}

TEST_F(promised_test, remembers_the_latest_reason_for_the_delay_until_there_is_none) {
  EXPECT_FALSE(answer.last_failure());
  answer.note_failure(std::make_exception_ptr(std::runtime_error("a bug")));
  EXPECT_EQ(answer.last_failure()->code(), errc::internal);
  answer.note_failure(failure());
  EXPECT_EQ(answer.last_failure()->code(), errc::contention);
  EXPECT_FALSE(answer.is_complete());
  answer.note_failure({});
  EXPECT_FALSE(answer.last_failure());
}

}  // namespace
}  // namespace rowlock::test
