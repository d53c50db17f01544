#include "client/core/hold_state.hpp"

#include "client/engine.hpp"
#include "support/background.hpp"
#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class hold_state_test : public testing::Test {
 protected:
  hold_state_test() { own->confirm(time.now(), {}); }

  virtual_time time;
  // The engine never connects: a hold asks it only for the time.
  const std::shared_ptr<client_layer::engine> engine =
      std::make_shared<client_layer::engine>(client_layer::database_source{}, options{}, time);
  const model::lease_id process = model::lease_id::random();
  const std::shared_ptr<client_layer::lease> own =
      std::make_shared<client_layer::lease>(process, 30s, true, process);
  client_layer::hold_state hold{engine,
                                time,
                                {"a", model::lock_kind::semaphore, 5},
                                model::hold_id::random(),
                                7,
                                own,
                                model::lock_mode::shared,
                                3};
};

TEST_F(hold_state_test, is_valid_until_its_leases_deadline_and_then_lost) {
  time.advance(30s - 1ns);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_EQ(hold.remaining(), 1ns);
  EXPECT_EQ(hold.loss(), loss::none);
  time.advance(1ns);
  EXPECT_FALSE(hold.is_valid());
  EXPECT_EQ(hold.remaining(), 0ns);
  EXPECT_EQ(hold.loss(), loss::expired) << "although nobody has marked it";
}

// The answer to a renewal may come just after somebody, such as the guard, was told that the hold is over.
TEST_F(hold_state_test, that_has_said_it_is_over_is_never_valid_again) {
  time.advance(30s);
  EXPECT_TRUE(own->confirm(time.now() - 20s, {})) << "nobody has asked yet";
  EXPECT_TRUE(hold.is_valid());
  time.advance(10s);
  EXPECT_FALSE(hold.is_valid());
  EXPECT_FALSE(own->confirm(time.now() - 1s, {}));
  EXPECT_FALSE(hold.is_valid());
  EXPECT_EQ(own->deadline(), time.now());
  EXPECT_EQ(own->confirmed_at(), time.now() - 30s);
}

TEST_F(hold_state_test, is_lost_once) {
  EXPECT_TRUE(hold.lose(loss::forced));
  EXPECT_FALSE(hold.lose(loss::gone));
  EXPECT_EQ(hold.loss(), loss::forced);
  EXPECT_FALSE(hold.is_valid());
  EXPECT_EQ(hold.remaining(), 0ns);
  EXPECT_FALSE(hold.begin_release());
  EXPECT_FALSE(hold.is_released());
}

TEST_F(hold_state_test, its_release_knows_its_grant_unless_a_loss_was_told) {
  hold.set_granted_at(time.now());
  ASSERT_TRUE(hold.begin_release());
  const auto ending = hold.take_ending();
  ASSERT_TRUE(ending->ends);
  EXPECT_EQ(ending->ends->at, time.now());
  EXPECT_EQ(ending->ends->token, 7);
}

TEST_F(hold_state_test, the_release_that_follows_a_loss_ends_no_grant) {
  ASSERT_TRUE(hold.lose(loss::closed));
  EXPECT_FALSE(hold.take_ending()->ends);
}

TEST_F(hold_state_test, is_released_once_and_then_not_lost) {
  EXPECT_TRUE(hold.begin_release());
  EXPECT_FALSE(hold.begin_release());
  EXPECT_FALSE(hold.lose(loss::forced));
  EXPECT_TRUE(hold.is_released());
  EXPECT_FALSE(hold.is_valid());
  time.advance(1h);
  EXPECT_EQ(hold.loss(), loss::none);
}

TEST_F(hold_state_test, a_release_past_the_deadline_finds_it_lost) {
  time.advance(30s);
  EXPECT_FALSE(hold.begin_release());
  EXPECT_EQ(hold.loss(), loss::expired);
  EXPECT_FALSE(hold.is_released());
  EXPECT_FALSE(hold.has_ended());
  EXPECT_TRUE(hold.lose(loss::expired)) << "the watchdog marks it, and then its holder is told";
  EXPECT_TRUE(hold.has_ended());
}

TEST_F(hold_state_test, of_many_that_end_it_one_does) {
  int ended = 0;
  std::vector<std::future<bool>> tries;
  for (int i = 0; i < 8; ++i) {
    tries.push_back(
        in_background([&, i] { return i % 2 == 0 ? hold.lose(loss::forced) : hold.begin_release(); }));
  }
  for (auto& one : tries) ended += one.get() ? 1 : 0;
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(hold.is_released(), hold.loss() == loss::none);
}

TEST_F(hold_state_test, the_token_tells_of_a_loss_when_the_holder_is_told) {
  const auto token = hold.stop_token();
  hold.lose(loss::forced);
  EXPECT_FALSE(token.stop_requested());
  hold.deliver();
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(hold_state_test, a_token_that_is_first_taken_after_the_loss_tells_at_once) {
  hold.lose(loss::forced);
  hold.deliver();
  EXPECT_TRUE(hold.stop_token().stop_requested());
}

// Others have registered callbacks, which belong on the thread that delivers the loss.
TEST_F(hold_state_test, a_token_taken_between_the_loss_and_its_delivery_runs_no_callback_of_others) {
  int told = 0;
  const std::stop_callback other{hold.stop_token(), [&] { ++told; }};
  hold.lose(loss::forced);
  EXPECT_TRUE(hold.stop_token().stop_requested());
  EXPECT_EQ(told, 0);
  hold.deliver();
  EXPECT_EQ(told, 1);
}

TEST_F(hold_state_test, a_token_that_is_first_taken_past_the_deadline_has_stopped) {
  time.advance(30s);
  EXPECT_TRUE(hold.stop_token().stop_requested()) << "although nobody has marked the loss";
}

TEST_F(hold_state_test, a_release_stops_no_token) {
  hold.begin_release();
  EXPECT_FALSE(hold.stop_token().stop_requested());
}

TEST_F(hold_state_test, a_callback_may_use_the_hold) {
  const std::stop_callback on_loss{hold.stop_token(),
                                   [&] { EXPECT_TRUE(hold.stop_token().stop_requested()); }};
  hold.lose(loss::forced);
  hold.deliver();
}

TEST_F(hold_state_test, keeps_the_latest_release_request_and_notes_the_first) {
  EXPECT_FALSE(hold.request());
  EXPECT_TRUE(hold.request_release("a deploy", time.now() + 10s));
  EXPECT_FALSE(hold.request_release("an urgent deploy", time.now() + 5s));
  time.advance(2s);
  EXPECT_EQ(hold.request()->reason, "an urgent deploy");
  EXPECT_EQ(hold.request()->remaining, 3s);
  time.advance(1min);
  EXPECT_EQ(hold.request()->remaining, 0s);
}

TEST_F(hold_state_test, the_request_token_tells_of_requests_before_and_after_it_was_taken) {
  const auto token = hold.request_token();
  EXPECT_FALSE(token.stop_requested());
  hold.request_release("a deploy", time.now() + 10s);
  hold.notify_request();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(hold.request_token().stop_requested());
  EXPECT_FALSE(hold.stop_token().stop_requested()) << "nothing is lost";
}

TEST_F(hold_state_test, a_token_taken_between_a_request_and_its_notification_runs_no_callback_of_others) {
  int told = 0;
  const std::stop_callback other{hold.request_token(), [&] { ++told; }};
  hold.request_release("a deploy", time.now() + 10s);
  EXPECT_TRUE(hold.request_token().stop_requested());
  EXPECT_EQ(told, 0);
  hold.notify_request();
  EXPECT_EQ(told, 1);
}

TEST_F(hold_state_test, what_is_over_is_asked_for_nothing) {
  hold.begin_release();
  EXPECT_FALSE(hold.request_release("a deploy", time.now() + 10s));
  EXPECT_FALSE(hold.request());
}

TEST_F(hold_state_test, entries_are_counted_and_none_comes_after_the_last) {
  EXPECT_EQ(hold.depth(), 1U);
  EXPECT_TRUE(hold.enter());
  EXPECT_EQ(hold.depth(), 2U);
  EXPECT_FALSE(hold.leave());
  EXPECT_TRUE(hold.leave());
  EXPECT_FALSE(hold.enter());
  EXPECT_EQ(hold.depth(), 0U);
}

TEST_F(hold_state_test, becomes_what_the_database_made_of_it) {
  EXPECT_EQ(hold.mode(), model::lock_mode::shared);
  EXPECT_EQ(hold.weight(), 3);
  EXPECT_EQ(hold.token(), 7);
  hold.set_mode(model::lock_mode::exclusive, 5, 9);
  EXPECT_EQ(hold.mode(), model::lock_mode::exclusive);
  EXPECT_EQ(hold.weight(), 5);
  EXPECT_EQ(hold.token(), 9);
}

}  // namespace
}  // namespace rowlock::test
