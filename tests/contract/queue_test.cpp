#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class queue_test : public contract_test {
 protected:
  // Moves the head to that waiter although rows stand before it: to a transaction with an old snapshot the queue looks
  // like this.
  void begin_at(const claim& waiter) {
    edit(
        waiter.name,
        [](const store::lock_view& now) {
          store::lock_change change;
          change.row = now.row;
          change.row->head_ticket = now.own.value().ticket;
          return change;
        },
        waiter.hold);
  }
};

TEST_P(queue_test, is_served_first_come_first_served) {
  auto holder = held("a");
  std::vector<claim> waiters;
  for (int i = 0; i < 5; ++i) waiters.push_back(queued("a"));
  model::token last = find(holder).token;
  for (const auto& next : waiters) {
    EXPECT_FALSE(release(holder)) << "the fast path must not pass by the queue";
    EXPECT_EQ(edit("a", hand_over), edit_result::committed);
    const auto status = find(next);
    EXPECT_EQ(status.state, where::held);
    EXPECT_GT(status.token, last);
    last = status.token;
    holder = next;
  }
  EXPECT_TRUE(release(holder)) << "the queue is empty, and the fast path open again";
  EXPECT_TRUE(acquire(claim_to("a")));
}

TEST_P(queue_test, skips_the_dead) {
  held("a");
  const auto dead = queued("a");
  const auto ended = queued("a");
  const auto alive = queued("a");
  kill(dead.lease);
  end(ended.lease);
  edit("a", hand_over);
  EXPECT_EQ(find(alive).state, where::held);
  EXPECT_THAT(waiting("a"), IsEmpty());
}

TEST_P(queue_test, keeps_its_order_when_one_leaves) {
  held("a");
  const auto one = queued("a");
  const auto two = queued("a");
  const auto three = queued("a");
  edit("a", leave(two.hold));
  const auto four = queued("a");
  EXPECT_THAT(waiting("a"), ElementsAre(one.hold, three.hold, four.hold));
}

TEST_P(queue_test, opens_the_fast_path_when_the_last_one_leaves) {
  const auto waiter = queued("a");
  edit("a", leave(waiter.hold));
  EXPECT_TRUE(acquire(claim_to("a")));
}

TEST_P(queue_test, gives_tickets_that_never_come_again) {
  held("a");
  const auto one = queued("a");
  const auto first = view("a", one.hold).own.value().ticket;
  edit("a", leave(one.hold));
  const auto two = queued("a");
  EXPECT_GT(view("a", two.hold).own.value().ticket, first);
}

TEST_P(queue_test, is_a_queue_per_name) {
  const auto one = queued("a");
  const auto two = queued("b");
  EXPECT_THAT(waiting("a"), ElementsAre(one.hold));
  EXPECT_THAT(waiting("b"), ElementsAre(two.hold));
}

TEST_P(queue_test, is_listed_with_its_waiters) {
  held("a");
  const auto one = queued("a");
  const auto dead = queued("a");
  kill(dead.lease);
  const auto list = a->queue("a");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].waiter.hold, one.hold);
  EXPECT_EQ(list[0].lease.id, one.lease);
  EXPECT_EQ(list[0].lease.host, "host");
  EXPECT_EQ(list[0].lease.pid, 42);
  EXPECT_EQ(list[0].lease.application, "contract");
  EXPECT_GT(list[0].expires_in, 10s);
  EXPECT_TRUE(list[0].alive);
  EXPECT_EQ(list[1].waiter.hold, dead.hold);
  EXPECT_EQ(list[1].waiter.lease, dead.lease);
  EXPECT_FALSE(list[1].alive);
}

TEST_P(queue_test, of_a_missing_lock_is_empty) {
  EXPECT_THAT(a->queue("a"), IsEmpty());
}

TEST_P(queue_test, is_read_from_its_head_on) {
  ROWLOCK_NEEDS(backends);  // the other stores keep no rows of waiters that have left
  const auto holder = held("a");
  queued("a");
  const auto head = queued("a");
  queued("a");
  begin_at(head);
  EXPECT_EQ(a->show("a").value().waiters, 2);
  EXPECT_EQ(a->list().at(0).waiters, 2);
  const auto seen = view("a").queue;
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen.at(0).waiter.hold, head.hold);
  if (const auto given = a->hand_over(holder.giving_back(), 0us)) {
    EXPECT_EQ(given->granted, head.hold);
  }
}

TEST_P(queue_test, is_in_the_way_from_its_head_on) {
  ROWLOCK_NEEDS(backends);
  a->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  auto permit = claim{"s", new_lease(1h)}.request();
  permit.kind = model::lock_kind::semaphore;
  permit.capacity = permit.weight = 5;
  permit.mode = model::lock_mode::shared;
  ASSERT_EQ(a->acquire(std::vector{permit}).size(), 1U);
  const auto gone = queued("s");
  const auto head = queued("s");
  fixture().expire(gone.lease);
  begin_at(head);
  EXPECT_GT(find(head).takeover_in.value(), 10s);
  const store::hold_query both[] = {{"s", head.hold}, {"missing", head.hold}};
  EXPECT_GT(a->find(both).at(0).takeover_in.value(), 10s);
}

ROWLOCK_FOR_EACH_STORE(queue_test);

}  // namespace
}  // namespace rowlock::test
