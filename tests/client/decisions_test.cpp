// Decisions in long random sequences, applied to one lock: what must hold after each of them (I1, I2, I9).
#include "client/lock_views.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace rowlock::test {
namespace {

// One lock and the leases of those who want it, as a store would keep them.
class table {
 public:
  explicit table(std::size_t window) : window_{window} { row_.name = "a"; }

  store::lock_view view(const hold_id& about) const {
    store::lock_view read;
    read.row = row_;
    if (row_.lease) read.holder = lease(*row_.lease);
    for (const auto& [ticket, waiter] : queue_) {
      if (waiter.hold == about) read.own = waiter;
      if (read.queue.size() < window_) read.queue.push_back({waiter, lease(waiter.lease)});
    }
    read.queue_complete = queue_.size() <= window_;
    return read;
  }

  void apply(const store::lock_change& change) {
    const auto before = row_;
    if (change.row) row_ = *change.row;
    for (const auto& gone : change.dequeue)
      std::erase_if(queue_, [&](const auto& entry) { return entry.second.hold == gone; });
    if (change.enqueue) queue_.emplace(change.enqueue->ticket, *change.enqueue);
    ASSERT_EQ(row_.in_use, row_.hold ? 1 : 0);
    ASSERT_EQ(row_.has_queue, !queue_.empty());
    if (row_.hold && row_.hold != before.hold) {
      ASSERT_GT(row_.token, last_grant_) << "I2";
      last_grant_ = row_.token;
      ASSERT_FALSE(before.lease && leases_.contains(*before.lease) && before.lease != releasing) << "I1";
    }
  }

  void live(const party& who) { leases_[who.lease] = 30s; }
  void expire(const party& who) {
    if (leases_.contains(who.lease)) leases_[who.lease] = -1s;
  }
  void kill(const lease_id& id) { leases_.erase(id); }
  bool lives(const party& who) const { return leases_.contains(who.lease); }
  bool queued(const party& who) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const auto& entry) { return entry.second.hold == who.hold; });
  }
  const model::lock_row& row() const { return row_; }
  // The first waiter whose lease exists: I9 says that nobody else is granted next.
  std::optional<hold_id> first_living() const {
    for (const auto& [ticket, waiter] : queue_) {
      if (leases_.contains(waiter.lease)) return waiter.hold;
    }
    return {};
  }

  std::optional<lease_id> releasing;  // who gives the lock away in this step

 private:
  std::optional<model::lease_view> lease(const lease_id& id) const {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return {};
    return model::lease_view{id, id, found->second};
  }

  std::size_t window_;
  model::lock_row row_;
  std::map<std::int64_t, model::waiter> queue_;
  std::map<lease_id, std::chrono::microseconds> leases_;
  model::token last_grant_ = 0;
};

class decisions_test : public testing::TestWithParam<unsigned> {
 protected:
  // Decides until the request is settled, doing what each answer asks for, as a lane does.
  template <class Decide>
  what settle(const party& who, Decide decide) {
    for (int round = 0; round < 200; ++round) {
      const auto head = lock.first_living();
      const auto before = lock.row();
      const decision made = decide(lock.view(who.hold));
      lock.apply(made.change);
      if (testing::Test::HasFatalFailure()) return what::busy;
      const auto& after = lock.row();
      if (head && after.hold && after.hold != before.hold) {
        EXPECT_EQ(after.hold, head) << "I9";
      }
      if (made.outcome.result == what::expired) {
        for (const auto& id : made.outcome.leases) lock.kill(id);
      } else if (made.outcome.result != what::again) {
        return made.outcome.result;
      }
    }
    ADD_FAILURE() << "it was never settled";
    return what::busy;
  }

  std::mt19937 random{GetParam()};
  table lock{GetParam() % 2 == 0 ? std::size_t{64} : std::size_t{2}};
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
    lock.releasing.reset();
    const int thrown = dice(random);
    if (thrown < 45) {
      const auto result = settle(who, [&](const auto& view) { return acquire(view, who, thrown < 35); });
      const bool holds = lock.row().hold == who.hold;
      ASSERT_EQ(result == what::granted, holds);
      ASSERT_EQ(result == what::queued, lock.queued(who));
    } else if (thrown < 80) {
      if (lock.row().hold == who.hold) lock.releasing = who.lease;
      settle(who, [&](const auto& view) { return client_layer::decide_release(view, {who.hold}, no_skew); });
      ASSERT_NE(lock.row().hold, who.hold);
      ASSERT_FALSE(lock.queued(who));
      who.hold = hold_id::random();
    } else if (thrown < 85) {
      lock.releasing = lock.row().lease;
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
