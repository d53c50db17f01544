#include "client/decision/sequential_edit.hpp"

#include "client/lock_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace rowlock::test {
namespace {

using client_layer::sequential_edit;
using model::lock_kind;
using model::lock_mode;

class sequential_edit_test : public testing::Test {
 protected:
  const decision& decided(const decision& made) {
    lock.decided(made.change);
    return last = made;
  }
  what reads(const party& who) { return decided(share(lock.view(), who)).outcome.result; }
  what writes(const party& who) { return decided(write(lock.view(), who)).outcome.result; }
  what leaves(const party& who) {
    return decided(client_layer::decide_release(lock.view(), {who.hold}, no_skew)).outcome.result;
  }

  party me, other, third;
  sequential_edit lock{a_shared_mutex(), 30s};
  decision last;
};

TEST_F(sequential_edit_test, each_finds_what_those_before_it_left) {
  EXPECT_EQ(reads(me), what::granted);
  const auto first = last.outcome.token;
  EXPECT_EQ(reads(other), what::granted);
  EXPECT_GT(last.outcome.token, first);
  EXPECT_EQ(writes(third), what::queued);
  EXPECT_EQ(reads(party{}), what::queued) << "a writer waits";
  const auto all = std::move(lock).change();
  EXPECT_EQ(all.add_permits.size(), 2U);
  ASSERT_EQ(all.enqueue.size(), 2U);
  EXPECT_EQ(all.enqueue[0].hold, third.hold);
  EXPECT_LT(all.enqueue[0].ticket, all.enqueue[1].ticket);
  EXPECT_EQ(all.row->in_use, 2);
  EXPECT_TRUE(all.row->has_queue);
  EXPECT_TRUE(all.granted_now);
  EXPECT_TRUE(all.durable);
}

TEST_F(sequential_edit_test, what_a_later_one_undoes_is_not_written) {
  EXPECT_EQ(reads(me), what::granted);
  EXPECT_EQ(writes(other), what::queued);
  EXPECT_EQ(leaves(other), what::released);
  EXPECT_EQ(leaves(me), what::released);
  const auto all = std::move(lock).change();
  EXPECT_TRUE(all.add_permits.empty());
  EXPECT_TRUE(all.enqueue.empty());
  EXPECT_EQ(all.row->in_use, 0);
  EXPECT_FALSE(all.row->has_queue);
}

TEST_F(sequential_edit_test, the_first_waiter_is_granted_by_the_one_that_frees) {
  lock = sequential_edit{a_shared_mutex().shared_by(me).queued(other), 30s};
  EXPECT_EQ(leaves(me), what::released);
  ASSERT_EQ(last.outcome.next.size(), 1U);
  EXPECT_EQ(last.outcome.next.front().waiter.hold, other.hold);
  EXPECT_EQ(reads(third), what::queued);
  const auto all = std::move(lock).change();
  EXPECT_EQ(all.row->hold, other.hold);
  EXPECT_EQ(all.enqueue.front().hold, third.hold);
}

TEST_F(sequential_edit_test, a_queue_longer_than_what_is_read_stays_incomplete) {
  EXPECT_EQ(writes(me), what::granted);
  for (std::size_t i = 0; i < store::queue_window + 2; ++i) EXPECT_EQ(reads(party{}), what::queued);
  EXPECT_FALSE(lock.view().queue_complete);
  EXPECT_EQ(lock.view().queue.size(), store::queue_window);
  EXPECT_EQ(std::move(lock).change().enqueue.size(), store::queue_window + 2);
}

TEST_F(sequential_edit_test, one_that_changes_nothing_leaves_it_to_the_others) {
  EXPECT_EQ(leaves(me), what::absent);
  EXPECT_EQ(reads(other), what::granted);
  EXPECT_EQ(std::move(lock).change().add_permits.size(), 1U);
}

TEST_F(sequential_edit_test, each_minimum_time_gets_its_lease) {
  lock = sequential_edit{a_shared_mutex().shared_by(me).shared_by(other), 30s};
  for (const auto* who : {&me, &other}) {
    const store::lease_record rest{lease_id::random(), who->client, "host", 1, "", 5s};
    const auto made = client_layer::decide_release(lock.view(), {.hold = who->hold, .rest = rest}, no_skew);
    EXPECT_EQ(decided(made).outcome.result, what::released);
    EXPECT_EQ(lock.view().permits.back().lease->id, rest.id);
  }
  const auto all = std::move(lock).change();
  EXPECT_EQ(all.create_leases.size(), 2U);
  EXPECT_EQ(all.add_permits.size(), 2U);
  EXPECT_EQ(all.row->in_use, 2);
}

// Long random sequences of requests that are joined in one edit. What the requests write together is what each would
// have written alone, one after the other.
class joined_requests_test : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::int64_t permits = 5;

  bool counted() const { return GetParam() % 2 == 0; }
  bool whole_queue_is_read() const { return GetParam() % 3 != 0; }
  wanting somebody() {
    wanting made;
    if (counted()) {
      made.weight = std::uniform_int_distribution<std::int64_t>{1, permits}(random);
    } else if (random() % 4 == 0) {
      made.mode = lock_mode::exclusive;
    }
    return made;
  }
  decision decide(const store::lock_view& view, const wanting& who, bool comes, bool waits) const {
    if (!comes) return client_layer::decide_release(view, {who.hold}, no_skew);
    if (who.mode == lock_mode::exclusive) return write(view, who, waits);
    return share(view, who, who.weight, waits);
  }
  lock_table a_table() const {
    return {counted() ? lock_kind::semaphore : lock_kind::shared_mutex,
            counted() ? permits : model::shared_mutex_capacity,
            whole_queue_is_read() ? store::queue_window : std::size_t{2}};
  }

  std::mt19937 random{GetParam()};
  lock_table together = a_table();
  lock_table alone = a_table();
};

TEST_P(joined_requests_test, writes_together_what_each_would_have_written_alone) {
  std::vector<wanting> parties;
  const auto both = [&](auto change) {
    change(together);
    change(alone);
  };
  for (int i = 0; i < 12; ++i) {
    parties.push_back(somebody());
    both([&](auto& table) { table.live(parties.back()); });
  }
  for (int step = 0; step < 500; ++step) {
    SCOPED_TRACE(step);
    std::shuffle(parties.begin(), parties.end(), random);
    const auto read = together.view(hold_id{});
    sequential_edit lock{read, 30s};
    for (std::size_t i = 0, requests = 1 + random() % 6; i < requests; ++i) {
      auto& who = parties[i];
      // A party that already waits may stand in a part of the queue that was not read.
      if (together.queued(who)) continue;
      const bool comes = !together.holds(who);
      const bool waits = random() % 3 != 0;
      const auto made = decide(lock.view(), who, comes, waits);
      lock.decided(made.change);
      if (!whole_queue_is_read()) continue;
      const auto wanted = decide(alone.view(who.hold), who, comes, waits);
      alone.apply(wanted.change);
      ASSERT_EQ(made.outcome.result, wanted.outcome.result);
      ASSERT_EQ(made.outcome.token, wanted.outcome.token);
      ASSERT_EQ(made.outcome.next.size(), wanted.outcome.next.size());
    }
    together.apply(std::move(lock).change());
    if (testing::Test::HasFatalFailure()) return;
    if (whole_queue_is_read()) {
      ASSERT_EQ(together.row().token, alone.row().token);
      ASSERT_EQ(together.row().in_use, alone.row().in_use);
      ASSERT_EQ(together.row().hold, alone.row().hold);
      ASSERT_EQ(together.living(), alone.living());
    }
    // Sometimes a party dies and comes back as another one.
    if (auto& who = parties[random() % parties.size()]; random() % 4 == 0) {
      both([&](auto& table) { table.kill(who.lease); });
      who = somebody();
      both([&](auto& table) { table.live(who); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, joined_requests_test, testing::Range(1U, 31U));

}  // namespace
}  // namespace rowlock::test
