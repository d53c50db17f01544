// Long random sequences of decisions, applied to one lock. After each decision the test checks I1, I2 and I9.
#include "client/lock_table.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace rowlock::test {
namespace {

class decisions_test : public testing::TestWithParam<unsigned> {
 protected:
  // Decides until the request is settled, and after each decision does what a worker would do.
  template <class Decide>
  what settle(const party& who, Decide decide) {
    for (int round = 0; round < 200; ++round) {
      const auto waiting = lock.living();
      const auto before = lock.row();
      const decision made = decide(lock.view(who.hold));
      lock.apply(made.change);
      if (testing::Test::HasFatalFailure()) return what::busy;
      const auto& after = lock.row();
      EXPECT_EQ(after.has_queue, lock.is_waited_for());
      if (after.hold && after.hold != before.hold) {
        EXPECT_TRUE(waiting.empty() || after.hold == waiting.front()) << "I9";
        EXPECT_FALSE(before.lease && lock.exists(*before.lease) && before.lease != releasing) << "I1";
      }
      if (made.outcome.result == what::expired) {
        for (const auto& id : made.outcome.leases) lock.kill(id);
      } else if (made.outcome.result != what::decide_again) {
        return made.outcome.result;
      }
    }
    ADD_FAILURE() << "it was never settled";
    return what::busy;
  }

  std::mt19937 random{GetParam()};
  lock_table lock{model::lock_kind::mutex, 1, GetParam() % 2 == 0 ? std::size_t{64} : std::size_t{2}};
  std::optional<lease_id> releasing;  // the party that releases in this step
};

TEST_P(decisions_test, keep_exclusion_tokens_and_order) {
  std::vector<party> parties(8);
  for (const auto& who : parties) lock.live(who);
  std::uniform_int_distribution<std::size_t> any{0, parties.size() - 1};
  std::uniform_int_distribution<int> dice{0, 99};
  for (int step = 0; step < 2000; ++step) {
    SCOPED_TRACE(step);
    auto& who = parties[any(random)];
    if (!lock.lives(who)) {
      who = party{};
      lock.live(who);
    }
    releasing.reset();
    const int thrown = dice(random);
    if (thrown < 45) {
      const auto result = settle(who, [&](const auto& view) { return acquire(view, who, thrown < 35); });
      const bool holds = lock.row().hold == who.hold;
      ASSERT_EQ(result == what::granted, holds);
      ASSERT_EQ(result == what::queued, lock.queued(who));
    } else if (thrown < 80) {
      if (lock.row().hold == who.hold) releasing = who.lease;
      settle(who, [&](const auto& view) { return client_layer::decide_release(view, {who.hold}, no_skew); });
      ASSERT_NE(lock.row().hold, who.hold);
      ASSERT_FALSE(lock.queued(who));
      who.hold = hold_id::random();
    } else if (thrown < 85) {
      releasing = lock.row().lease;
      settle(who, [&](const auto& view) { return client_layer::decide_force(view, {}, no_skew); });
    } else if (thrown < 92) {
      settle(who, [&](const auto& view) { return client_layer::decide_sweep(view, no_skew); });
    } else {
      lock.expire(who);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, decisions_test, testing::Range(1U, 21U));

}  // namespace
}  // namespace rowlock::test
