#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class release_test : public contract_test {};

TEST_P(release_test, frees_an_unfair_lock_though_others_wait) {
  const model::lock_definition locks[] = {{"u", model::lock_kind::mutex, 1, false},
                                          {"v", model::lock_kind::mutex, 1, false}};
  a->create(locks);
  for (const bool several : {false, true}) {
    std::vector<store::release_item> releases;
    for (const std::string name : {"u", "v"}) {
      if (name == "v" && !several) continue;
      auto holder = claim_to(name).request();
      holder.fair = false;
      ASSERT_EQ(a->acquire(std::vector{holder}).size(), 1U);
      if (waiting(name).empty()) queued(name);
      releases.push_back({name, holder.lease, holder.hold});
    }
    EXPECT_EQ(a->release(releases, durability::durable).size(), releases.size());
    EXPECT_FALSE(view("u").row.lease);
    EXPECT_EQ(waiting("u").size(), 1U);
  }
}

TEST_P(release_test, frees_the_lock) {
  const auto holder = held("a");
  EXPECT_TRUE(release(holder));
  const auto now = view("a");
  EXPECT_FALSE(now.row.lease);
  EXPECT_FALSE(now.row.hold);
  EXPECT_EQ(now.row.in_use, 0);
  EXPECT_EQ(find(holder).state, where::absent);
}

TEST_P(release_test, frees_the_lock_asynchronously_too) {
  const auto holder = held("a");
  EXPECT_TRUE(release(holder, durability::asynchronous));
  EXPECT_TRUE(acquire(*b, claim_to("a"))) << "what is committed is seen at once";
}

TEST_P(release_test, sent_again_releases_nothing) {
  const auto holder = held("a");
  EXPECT_TRUE(release(holder));
  EXPECT_FALSE(release(holder));
}

TEST_P(release_test, sent_again_does_not_touch_the_next_holder) {
  const auto holder = held("a");
  EXPECT_TRUE(release(holder));
  const auto next = held("a");
  EXPECT_FALSE(release(holder));
  EXPECT_EQ(find(next).state, where::held);
}

TEST_P(release_test, needs_the_hold_and_its_lease) {
  const auto holder = held("a");
  EXPECT_FALSE(release({"a", holder.lease, hold_id::random()}));
  EXPECT_FALSE(release({"a", new_lease(), holder.hold}));
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(release_test, of_a_free_or_missing_lock_is_nothing) {
  create("a");
  EXPECT_FALSE(release({"a", new_lease()}));
  EXPECT_FALSE(release({"b", new_lease()}));
}

TEST_P(release_test, leaves_a_lock_that_others_wait_for_to_be_handed_over) {
  const auto holder = held("a");
  queued("a");
  EXPECT_FALSE(release(holder));
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(release_test, works_for_an_expired_and_for_a_dead_holder) {
  const auto expired = held("a");
  fixture().expire(expired.lease);
  EXPECT_TRUE(release(expired));
  const auto dead = held("b");
  kill(dead.lease);
  EXPECT_TRUE(release(dead));
  EXPECT_FALSE(view("b").row.hold);
}

TEST_P(release_test, skips_a_row_that_is_locked) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  auto rival = fixture().lock_row("a");
  EXPECT_FALSE(release(holder));
  rival.reset();
  EXPECT_TRUE(release(holder));
}

TEST_P(release_test, skips_a_guarded_hold) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  auto guard = fixture().guard("a", holder.hold);
  ASSERT_TRUE(guard);
  EXPECT_FALSE(release(holder));
  EXPECT_EQ(find(holder).state, where::held);
  guard.reset();
  EXPECT_TRUE(release(holder));
}

TEST_P(release_test, keeps_the_token_for_the_next_to_exceed) {
  const auto holder = held("a");
  const auto token = view("a").row.token;
  EXPECT_TRUE(release(holder));
  EXPECT_EQ(view("a").row.token, token);
}

TEST_P(release_test, is_allowed_on_another_server) {
  const auto holder = held("a");
  fixture().change_identity();
  EXPECT_TRUE(release(holder));
}

TEST_P(release_test, of_a_batch_returns_those_that_were_freed) {
  const auto one = held("a");
  const auto waited_for = held("b");
  queued("b");
  const auto two = held("c");
  const claim not_mine{"d", new_lease()};
  held("d");
  for (const auto how : {durability::durable, durability::asynchronous}) {
    const auto released = a->release(
        std::vector{two.giving_back(), waited_for.giving_back(), not_mine.giving_back(), one.giving_back()},
        how);
    if (how == durability::durable) {
      EXPECT_THAT(released, UnorderedElementsAre(one.hold, two.hold));
    } else {
      EXPECT_THAT(released, IsEmpty());
    }
  }
}

TEST_P(release_test, of_a_batch_does_not_stall_behind_one_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  const auto one = held("a");
  const auto two = held("b");
  const auto guarded = held("c");
  const auto three = held("d");
  const auto rival = fixture().lock_row("b");
  const auto guard = fixture().guard("c", guarded.hold);
  EXPECT_THAT(a->release(std::vector{one.giving_back(), two.giving_back(), guarded.giving_back(),
                                     three.giving_back()},
                         durability::asynchronous),
              UnorderedElementsAre(one.hold, three.hold));
}

TEST_P(release_test, of_many_at_once) {
  const auto lease = new_lease();
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("lock-" + std::to_string(i));
  create(names);
  std::vector<store::acquire_item> acquires;
  std::vector<store::release_item> releases;
  for (const auto& name : names) {
    const claim one{name, lease};
    acquires.push_back(one.request());
    releases.push_back(one.giving_back());
  }
  ASSERT_EQ(a->acquire(acquires).size(), 200U);
  EXPECT_EQ(b->release(releases, durability::asynchronous).size(), 200U);
}

// ---- with an explicit-ttl lease, which ends with its hold ----

store::release_item with_its_lease(store::release_item given) {
  given.ends_lease = true;
  return given;
}

TEST_P(release_test, ends_the_lease_with_the_hold) {
  for (const auto how : {durability::durable, durability::asynchronous}) {
    const auto holder = held("a");
    EXPECT_THAT(a->release(std::vector{with_its_lease(holder.giving_back())}, how),
                testing::ElementsAre(holder.hold));
    EXPECT_EQ(find(holder).state, where::absent);
    EXPECT_FALSE(view("a").row.lease);
    EXPECT_FALSE(renew(holder.lease));
  }
}

TEST_P(release_test, ends_no_lease_of_a_hold_that_it_does_not_release) {
  const auto waited_for = held("a");
  queued("a");
  const auto other = held("b");
  auto wrong = other.giving_back();
  wrong.hold = hold_id::random();
  const auto free = claim_to("c");
  const std::vector all{with_its_lease(waited_for.giving_back()), with_its_lease(wrong),
                        with_its_lease(free.giving_back())};
  for (const auto& one : all) {
    EXPECT_THAT(a->release(std::vector{one}, durability::durable), IsEmpty());
    EXPECT_TRUE(renew(one.lease));
  }
  EXPECT_THAT(a->release(all, durability::durable), IsEmpty());
  for (const auto& one : all) EXPECT_TRUE(renew(one.lease));
  EXPECT_EQ(find(other).state, where::held);
}

TEST_P(release_test, of_a_batch_ends_the_leases_that_end_and_no_others) {
  create({"a", "b", "c", "d"});
  const auto stays = held("a");
  const auto ends = held("b");
  const auto waited_for = held("c");
  queued("c");
  const auto ends_too = held("d");
  EXPECT_THAT(a->release(std::vector{stays.giving_back(), with_its_lease(ends.giving_back()),
                                     with_its_lease(waited_for.giving_back()),
                                     with_its_lease(ends_too.giving_back())},
                         durability::asynchronous),
              UnorderedElementsAre(stays.hold, ends.hold, ends_too.hold));
  EXPECT_TRUE(renew(stays.lease));
  EXPECT_FALSE(renew(ends.lease));
  EXPECT_TRUE(renew(waited_for.lease));
  EXPECT_FALSE(renew(ends_too.lease));
}

TEST_P(release_test, keeps_the_lease_of_a_guarded_hold) {
  ROWLOCK_NEEDS(row_locks);
  const auto guarded = held("a");
  const auto free = held("b");
  {
    const auto guard = fixture().guard("a", guarded.hold);
    ASSERT_TRUE(guard);
    EXPECT_THAT(a->release(std::vector{with_its_lease(guarded.giving_back())}, durability::durable),
                IsEmpty());
    EXPECT_THAT(
        a->release(std::vector{with_its_lease(guarded.giving_back()), with_its_lease(free.giving_back())},
                   durability::durable),
        testing::ElementsAre(free.hold));
    EXPECT_TRUE(renew(guarded.lease));
    EXPECT_FALSE(renew(free.lease));
  }
  EXPECT_THAT(a->release(std::vector{with_its_lease(guarded.giving_back())}, durability::durable),
              testing::ElementsAre(guarded.hold));
  EXPECT_FALSE(renew(guarded.lease));
}

TEST_P(release_test, of_none_is_nothing) {
  EXPECT_THAT(a->release({}, durability::durable), IsEmpty());
}

ROWLOCK_FOR_EACH_STORE(release_test);

}  // namespace
}  // namespace rowlock::test
