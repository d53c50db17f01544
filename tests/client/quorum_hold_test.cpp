#include "client/quorum_test.hpp"

#include "support/background.hpp"

#include <atomic>

namespace rowlock::test {
namespace {

class quorum_hold_test : public quorum_test {};

TEST_F(quorum_hold_test, is_given_back_on_those_members_that_can_be_reached) {
  const auto one = new_process();
  for (std::size_t missing = 0; missing < count; ++missing) {
    auto held = take(*one);
    ASSERT_TRUE(held) << missing;
    cut({missing});
    EXPECT_EQ(run([&] { return held.release(); }), release_result::released) << missing;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(databases[i].holder().empty(), i != missing);
    cut({});
    EXPECT_TRUE(soon([&] { return is_free_everywhere(); })) << "it is not given up on the other one";
  }
}

TEST_F(quorum_hold_test, stands_while_a_majority_stands_and_tells_when_it_does_not) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto stop = held.stop_token();
  const auto force = [&](std::size_t i) {
    const client operators = make_client(databases[i]);
    run([&] { return admin(operators).release(name); });
    EXPECT_TRUE(soon([&] { return held.member_hold(i).loss() != loss::none; }));
  };
  force(0);
  EXPECT_TRUE(held);
  EXPECT_FALSE(stop.stop_requested());
  force(2);
  EXPECT_TRUE(soon([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_EQ(held.remaining(), 0ns);
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_TRUE(soon([&] { return is_free_everywhere(); }));
}

// The object may be kept for long: a majority must not wait for that.
TEST_F(quorum_hold_test, a_lost_hold_gives_its_members_back_by_itself) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto kept = held.member_hold(1).id();
  cut({0, 2});
  ASSERT_TRUE(soon([&] { return held.loss() != loss::none; }));
  cut({0});
  EXPECT_TRUE(soon([&] { return databases[1].holder() != kept; }));
  EXPECT_TRUE(run([&] { return two->lock->try_acquire_for(1min); })) << "two of three are back";
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
}

// The longest close_timeout of theirs, not the sum.
TEST_F(quorum_hold_test, gives_back_on_all_members_within_one_close_timeout) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  cut({0, 1, 2});
  const auto begun = time->now();
  EXPECT_NE(run([&] { return held.release(); }), release_result::released);
  EXPECT_LT(time->now() - begun, 2 * calm().close_timeout);
  cut({});
}

TEST_F(quorum_hold_test, is_lost_with_its_leases_before_another_is_granted) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  std::atomic<bool> told{false};
  const std::stop_callback on_loss{held.stop_token(), [&] { told = true; }};
  for (auto& each : databases) each.faults->lose_request("renew", 100'000);
  advance(20s);
  auto waiting = in_background([&] {
    auto next = two->lock->acquire();
    EXPECT_TRUE(told.load());
    return next.token();
  });
  ASSERT_TRUE(soon([&] { return waiting.wait_for(0s) == std::future_status::ready; }));
  EXPECT_GT(waiting.get(), held.token());
  EXPECT_EQ(held.loss(), loss::expired);
}

TEST_F(quorum_hold_test, an_explicit_ttl_ends_it) {
  const auto one = new_process();
  auto held = run([&] { return one->lock->try_acquire({.ttl = 10s}); });
  ASSERT_TRUE(held);
  EXPECT_LT(held.remaining(), 10s);
  advance(10s);
  EXPECT_TRUE(soon([&] { return held.loss() == loss::expired; }));
}

}  // namespace
}  // namespace rowlock::test
