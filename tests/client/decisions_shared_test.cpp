// Decisions about shared and exclusive holds in long random sequences, applied to one lock: what must hold
// after each of them (I1, I2, I9), and that nobody waits who could be granted.
#include "client/lock_views.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <vector>

namespace rowlock::test {
namespace {

using model::lock_kind;
using model::lock_mode;

struct wanting : party {
  lock_mode mode = lock_mode::shared;
  std::int64_t weight = 1;
};

// One lock and the leases of those who want it, as a store would keep them.
class shared_table {
 public:
  shared_table(lock_kind kind, std::int64_t capacity, std::size_t window) : window_{window} {
    row_.name = "a";
    row_.kind = kind;
    row_.capacity = capacity;
  }

  store::lock_view view(const hold_id& about) const {
    store::lock_view read;
    read.row = row_;
    if (row_.lease) read.holder = lease(*row_.lease);
    for (const auto& [hold, permit] : permits_) read.permits.push_back({permit, lease(permit.lease)});
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
    for (const auto& gone : change.remove_permits) permits_.erase(gone);
    for (const auto& permit : change.add_permits) {
      ASSERT_TRUE(permits_.emplace(permit.hold, permit).second);
      if (permit.token != before.token) note_grant(permit.token);
    }
    for (const auto& gone : change.dequeue)
      std::erase_if(queue_, [&](const auto& entry) { return entry.second.hold == gone; });
    if (change.enqueue) queue_.emplace(change.enqueue->ticket, *change.enqueue);
    if (row_.hold && row_.hold != before.hold) note_grant(row_.token);
    ASSERT_GE(row_.token, last_grant_) << "I2";
    std::int64_t used = row_.hold ? row_.capacity : 0;
    for (const auto& [hold, permit] : permits_) used += permit.weight;
    ASSERT_LE(used, row_.capacity) << "I1";
    ASSERT_EQ(row_.in_use, used);
    // It may say too much, where somebody beyond what was read has left the queue as its last.
    ASSERT_TRUE(row_.has_queue || queue_.empty());
  }

  void live(const party& who) { leases_[who.lease] = 30s; }
  void expire(const party& who) {
    if (leases_.contains(who.lease)) leases_[who.lease] = -1s;
  }
  void kill(const lease_id& id) { leases_.erase(id); }
  // Who has expired asks for nothing any more.
  bool lives(const party& who) const {
    const auto found = leases_.find(who.lease);
    return found != leases_.end() && found->second > 0s;
  }
  bool holds(const party& who) const { return row_.hold == who.hold || permits_.contains(who.hold); }
  bool reads(const party& who) const { return permits_.contains(who.hold); }
  bool queued(const party& who) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const auto& entry) { return entry.second.hold == who.hold; });
  }
  // Waiters whose leases exist, in the order of their tickets.
  std::vector<hold_id> living() const {
    std::vector<hold_id> holds;
    for (const auto& [ticket, waiter] : queue_) {
      if (leases_.contains(waiter.lease)) holds.push_back(waiter.hold);
    }
    return holds;
  }
  // Whether the first living waiter could be granted by what is held, dead or alive.
  bool head_fits() const {
    for (const auto& [ticket, waiter] : queue_) {
      if (!leases_.contains(waiter.lease)) continue;
      if (waiter.mode == lock_mode::exclusive) return row_.in_use == 0;
      return !row_.hold && row_.in_use + waiter.weight <= row_.capacity;
    }
    return false;
  }
  const model::lock_row& row() const { return row_; }

 private:
  void note_grant(model::token token) {
    ASSERT_GT(token, last_grant_) << "I2";
    last_grant_ = token;
  }
  std::optional<model::lease_view> lease(const lease_id& id) const {
    const auto found = leases_.find(id);
    if (found == leases_.end()) return {};
    return model::lease_view{id, id, found->second};
  }

  std::size_t window_;
  model::lock_row row_;
  std::map<hold_id, model::permit> permits_;
  std::map<std::int64_t, model::waiter> queue_;
  std::map<lease_id, std::chrono::microseconds> leases_;
  model::token last_grant_ = 0;
};

class decisions_shared_test : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::int64_t permits = 5;

  bool counted() const { return GetParam() % 2 == 0; }

  // Decides until the request is settled, doing what each answer asks for, as a lane does.
  what settle(const party& who, const std::function<decision(const store::lock_view&)>& decide) {
    for (int round = 0; round < 200; ++round) {
      auto waited = lock.living();
      const decision made = decide(lock.view(who.hold));
      lock.apply(made.change);
      if (testing::Test::HasFatalFailure()) return what::busy;
      std::vector<hold_id> next;
      for (const auto& granted : made.outcome.next) next.push_back(granted.waiter.hold);
      // Who asks for itself learns what it got from the answer.
      if (std::find(next.begin(), next.end(), who.hold) == next.end()) std::erase(waited, who.hold);
      waited.resize(std::min(waited.size(), next.size()));
      EXPECT_EQ(next, waited) << "I9";
      for (const auto& id : made.outcome.leases) lock.kill(id);
      if (made.outcome.more) {
        settle({}, [](const auto& view) { return client_layer::decide_sweep(view, no_skew); });
      }
      const auto result = made.outcome.result;
      if (result != what::expired && result != what::again) return result;
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
  shared_table lock{counted() ? lock_kind::semaphore : lock_kind::shared_mutex,
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
      const auto result = settle(who, [&](const auto& view) { return ask(view, who, thrown < 35); });
      // Who was put into a queue that is longer than what was read may be granted by the sweep that followed.
      ASSERT_EQ(result == what::granted || result == what::queued, lock.holds(who) || lock.queued(who));
      ASSERT_TRUE(result != what::granted || lock.holds(who));
    } else if (thrown < 78) {
      settle(who, [&](const auto& view) { return client_layer::decide_release(view, {who.hold}, no_skew); });
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
