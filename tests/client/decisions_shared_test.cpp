// Long random sequences of decisions about shared and exclusive holds, applied to one lock. After each decision the
// test checks I1, I2 and I9, and that no waiter waits that could be granted.
#include "client/lock_table.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace rowlock::test {
namespace {

using model::lock_kind;
using model::lock_mode;

class decisions_shared_test : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::int64_t permits = 5;

  bool counted() const { return GetParam() % 2 == 0; }

  // Decides until the request is settled, and after each decision does what a worker would do. wanted: as in an
  // edit_request that does not read all permits; empty: it reads all.
  what settle(const party& who, const std::function<decision(const store::lock_view&)>& decide,
              std::optional<std::int64_t> wanted = {}) {
    store::edit_request asked{"a", who.hold, {}};
    if (wanted) {
      asked.permits_of = {who.hold};
      asked.wanted = *wanted;
    }
    for (int round = 0; round < 200; ++round) {
      auto waited = lock.living();
      const auto read = lock.view(asked);
      if (read.unread_takeover_in && *read.unread_takeover_in <= 0us) {
        asked.permits_of.reset();
        continue;
      }
      const decision made = decide(read);
      lock.apply(made.change);
      if (testing::Test::HasFatalFailure()) return what::busy;
      std::vector<hold_id> next;
      for (const auto& granted : made.outcome.next) next.push_back(granted.waiter.hold);
      // If a party's own request grants it the lock, the party learns that from the answer, not as a waiter.
      if (std::find(next.begin(), next.end(), who.hold) == next.end()) std::erase(waited, who.hold);
      waited.resize(std::min(waited.size(), next.size()));
      EXPECT_EQ(next, waited) << "I9";
      for (const auto& id : made.outcome.leases) lock.kill(id);
      if (made.outcome.more) {
        settle({}, [](const auto& view) { return client_layer::decide_sweep(view, no_skew); });
      }
      const auto result = made.outcome.result;
      if (result != what::expired && result != what::decide_again) return result;
    }
    ADD_FAILURE() << "it was never settled";
    return what::busy;
  }
  decision ask(const store::lock_view& view, const wanting& who, bool wait) {
    if (who.mode == lock_mode::exclusive) return write(view, who, wait);
    return share(view, who, who.weight, wait);
  }
  wanting somebody() {
    wanting made;
    if (counted()) {
      made.weight = std::uniform_int_distribution<std::int64_t>{1, permits}(random);
    } else if (random() % 3 == 0) {
      made.mode = lock_mode::exclusive;
    }
    return made;
  }

  std::mt19937 random{GetParam()};
  lock_table lock{counted() ? lock_kind::semaphore : lock_kind::shared_mutex,
                  counted() ? permits : model::shared_mutex_capacity,
                  GetParam() % 3 == 0 ? std::size_t{2} : std::size_t{64}};
};

TEST_P(decisions_shared_test, keep_the_capacity_tokens_and_order_and_leave_nobody_waiting_for_nothing) {
  std::vector<wanting> parties(9);
  for (auto& who : parties) {
    who = somebody();
    lock.live(who);
  }
  for (int step = 0; step < 2000; ++step) {
    SCOPED_TRACE(step);
    auto& who = parties[random() % parties.size()];
    if (!lock.lives(who)) {
      who = somebody();
      lock.live(who);
    }
    const auto thrown = random() % 100;
    if (thrown < 45) {
      const auto wanted = who.mode == lock_mode::exclusive ? lock.row().capacity : who.weight;
      const bool trusts = !lock.queued(who) && thrown % 2 == 0;
      const auto result = settle(
          who, [&](const auto& view) { return ask(view, who, thrown < 35); },
          trusts ? std::optional{wanted} : std::nullopt);
      // A request may enter a queue that is longer than what was read. The sweep after it may grant the request.
      ASSERT_EQ(result == what::granted || result == what::queued, lock.holds(who) || lock.queued(who));
      ASSERT_TRUE(result != what::granted || lock.holds(who));
    } else if (thrown < 78) {
      const bool trusts = thrown % 2 == 0;
      settle(
          who, [&](const auto& view) { return client_layer::decide_release(view, {who.hold}, no_skew); },
          trusts ? std::optional{std::int64_t{0}} : std::nullopt);
      ASSERT_FALSE(lock.holds(who));
      ASSERT_FALSE(lock.queued(who));
      lock.kill(who.lease);
      who = somebody();
      lock.live(who);
    } else if (thrown < 81) {
      settle(who, [&](const auto& view) { return client_layer::decide_force(view, {}, no_skew); });
    } else if (thrown < 86) {
      settle(who, [&](const auto& view) { return client_layer::decide_sweep(view, no_skew); });
    } else if (thrown < 92 && !counted()) {
      const bool up = lock.reads(who);
      settle(who, [&](const auto& view) {
        return up ? client_layer::decide_upgrade(view, who.hold, no_skew)
                  : client_layer::decide_downgrade(view, who.hold, no_skew);
      });
    } else {
      lock.expire(who);
      continue;
    }
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_FALSE(lock.head_fits()) << "somebody waits who could be granted";
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, decisions_shared_test, testing::Range(1U, 31U));

}  // namespace
}  // namespace rowlock::test
