#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class listing_test : public contract_test {
 protected:
  std::vector<lease_id> to_kill(std::chrono::microseconds skew = 0us) {
    return a->find_stale(100, skew).leases;
  }
};

TEST_P(listing_test, lists_nothing_at_first) {
  EXPECT_THAT(a->list(), IsEmpty());
  EXPECT_FALSE(a->show("a"));
}

TEST_P(listing_test, lists_by_name_bytewise) {
  create({"b", "a", "B", "\xC3\xA4", "aa", "a b"});
  std::vector<std::string> names;
  for (const auto& one : a->list()) names.push_back(one.row.name);
  EXPECT_THAT(names, ElementsAre("B", "a", "a b", "aa", "b", "\xC3\xA4"));
}

TEST_P(listing_test, lists_page_by_page) {
  create({"b", "a", "c", "\xC3\xA4", "aa", "a%"});
  held("aa");
  queued("aa");
  const auto names = [&](const std::string& after, std::size_t limit) {
    std::vector<std::string> result;
    for (const auto& one : a->list(after, limit)) {
      result.push_back(one.row.name);
      EXPECT_EQ(one.holders.size(), one.row.name == "aa" ? 1U : 0U) << one.row.name;
      EXPECT_EQ(one.waiters, one.row.name == "aa" ? 1 : 0) << one.row.name;
    }
    return result;
  };
  EXPECT_THAT(names("", 2), ElementsAre("a", "a%"));
  EXPECT_THAT(names("a%", 2), ElementsAre("aa", "b"));
  EXPECT_THAT(names("aa", 2), ElementsAre("b", "c"));
  EXPECT_THAT(names("c", 2), ElementsAre("\xC3\xA4"));
  EXPECT_THAT(names("\xC3\xA4", 2), IsEmpty());
  EXPECT_THAT(names("ab", 100), ElementsAre("b", "c", "\xC3\xA4")) << "a name that is not there";
}

TEST_P(listing_test, shows_the_holders) {
  const auto holder = held("a");
  fixture().age("a", 90s);
  fixture().expire(holder.lease, -20s);
  const auto info = a->show("a").value();
  EXPECT_EQ(info.row.name, "a");
  EXPECT_EQ(info.row.in_use, 1);
  EXPECT_EQ(info.waiters, 0);
  ASSERT_EQ(info.holders.size(), 1U);
  const auto& shown = info.holders[0];
  EXPECT_EQ(shown.lease.id, holder.lease);
  EXPECT_EQ(shown.lease.client, holder.lease);
  EXPECT_EQ(shown.lease.host, "host");
  EXPECT_EQ(shown.lease.pid, 42);
  EXPECT_EQ(shown.lease.application, "contract");
  EXPECT_EQ(shown.lease.ttl, 30s);
  EXPECT_EQ(shown.hold, holder.hold);
  EXPECT_EQ(shown.token, find(holder).token);
  EXPECT_GE(shown.held_for, 90s);
  EXPECT_LT(shown.held_for, 120s);
  EXPECT_LE(shown.expires_in, 20s);
  EXPECT_GT(shown.expires_in, 10s);
}

TEST_P(listing_test, shows_an_expired_holder_with_a_negative_time) {
  const auto holder = held("a");
  fixture().expire(holder.lease, 5s);
  EXPECT_LE(a->show("a").value().holders.at(0).expires_in, -5s);
}

TEST_P(listing_test, shows_no_dead_holder_and_counts_no_dead_waiter) {
  const auto holder = held("a");
  const auto dead = queued("a");
  queued("a");
  kill(holder.lease);
  kill(dead.lease);
  const auto info = a->show("a").value();
  EXPECT_THAT(info.holders, IsEmpty());
  EXPECT_EQ(info.waiters, 1);
}

TEST_P(listing_test, counts_each_waiter_once_however_many_hold) {
  const model::lock_definition semaphore{"a", model::lock_kind::semaphore, 3};
  a->create({&semaphore, 1});
  for (int i = 0; i < 3; ++i) {
    const store::acquire_item request{.name = "a",
                                      .kind = semaphore.kind,
                                      .capacity = 3,
                                      .lease = new_lease(),
                                      .hold = hold_id::random(),
                                      .mode = model::lock_mode::shared};
    ASSERT_EQ(a->acquire({&request, 1}).size(), 1U);
  }
  queued("a");
  queued("a");
  held("b");
  queued("b");
  const auto shown = a->show("a").value();
  EXPECT_EQ(shown.holders.size(), 3U);
  EXPECT_EQ(shown.waiters, 2);
  const auto list = a->list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].holders.size(), 3U);
  EXPECT_EQ(list[0].waiters, 2);
  EXPECT_EQ(list[1].waiters, 1);
}

TEST_P(listing_test, lists_as_it_shows) {
  const auto holder = held("a");
  queued("a");
  create("b");
  const auto list = b->list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].waiters, 1);
  ASSERT_EQ(list[0].holders.size(), 1U);
  EXPECT_EQ(list[0].holders[0].hold, holder.hold);
  EXPECT_EQ(list[1].waiters, 0);
  EXPECT_THAT(list[1].holders, IsEmpty());
}

TEST_P(listing_test, finds_leases_that_are_expired_or_too_long) {
  const auto one = new_lease();
  new_lease();
  const auto two = new_lease();
  fixture().expire(one, 1s);
  fixture().expire(two, 1min);
  EXPECT_THAT(to_kill(), UnorderedElementsAre(one, two));
  EXPECT_THAT(to_kill(30s), ElementsAre(two));
  EXPECT_THAT(to_kill(2min), IsEmpty());
  const auto three = new_lease();
  fixture().expire(three, -20min);
  EXPECT_THAT(to_kill(), UnorderedElementsAre(one, two, three));
  EXPECT_THAT(to_kill(15min), ElementsAre(three));
  EXPECT_THAT(to_kill(20min), IsEmpty());
}

TEST_P(listing_test, finds_locks_that_name_a_dead_lease) {
  const auto alive = held("a");
  queued("a");
  const auto dead_holder = held("b");
  const auto dead_waiter = queued("c");
  const auto behind = held("d");
  queued("d");
  const auto dead_too = queued("d");
  for (const auto& one : {dead_holder, dead_waiter, dead_too}) kill(one.lease);
  EXPECT_THAT(a->find_stale(100, 0us).names, UnorderedElementsAre("b", "c", "d"));
}

TEST_P(listing_test, finds_each_stale_lock_once) {
  const auto holder = held("a");
  std::vector<claim> waiters;
  for (int i = 0; i < 3; ++i) waiters.push_back(queued("a"));
  for (const auto& one : waiters) kill(one.lease);
  kill(holder.lease);
  EXPECT_THAT(a->find_stale(100, 0us).names, ElementsAre("a"));
}

TEST_P(listing_test, finds_at_most_the_limit) {
  for (const auto* name : {"a", "b", "c", "d"}) kill(held(name).lease);
  for (int i = 0; i < 4; ++i) fixture().expire(new_lease());
  const auto found = a->find_stale(3, 0us);
  EXPECT_EQ(found.names.size(), 3U);
  EXPECT_EQ(found.leases.size(), 3U);
}

TEST_P(listing_test, finds_stale_locks_page_by_page) {
  for (const auto* name : {"a", "b", "c", "d", "e"}) create(name);
  kill(held("b").lease);
  kill(queued("d").lease);
  kill(held("e").lease);
  const auto first = a->find_stale(2, 0us, "");
  EXPECT_THAT(first.names, ElementsAre("b"));
  EXPECT_EQ(first.next, "b");
  const auto second = a->find_stale(2, 0us, first.next);
  EXPECT_THAT(second.names, ElementsAre("d"));
  EXPECT_EQ(second.next, "d");
  const auto last = a->find_stale(2, 0us, second.next);
  EXPECT_THAT(last.names, ElementsAre("e"));
  EXPECT_EQ(last.next, "");
}

TEST_P(listing_test, names_the_locks_that_somebody_waits_for) {
  held("a");
  held("b");
  held("c");
  queued("b");
  queued("b");
  queued("c");
  EXPECT_THAT(a->waited_for(), UnorderedElementsAre("b", "c"));
}

TEST_P(listing_test, is_not_kept_waiting_by_a_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  held("a");
  const auto rival = fixture().lock_row("a");
  EXPECT_EQ(a->list().size(), 1U);
  EXPECT_TRUE(a->show("a"));
  EXPECT_THAT(a->queue("a"), IsEmpty());
}

ROWLOCK_FOR_EACH_STORE(listing_test);

}  // namespace
}  // namespace rowlock::test
