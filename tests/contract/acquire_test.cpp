#include "contract/contract_test.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

namespace rowlock::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class acquire_test : public contract_test {
 protected:
  std::vector<hold_id> granted(const std::vector<claim>& wanted) {
    std::vector<store::acquire_item> requests;
    for (const auto& one : wanted) requests.push_back(one.request());
    std::vector<hold_id> holds;
    for (const auto& grant : a->acquire(requests)) holds.push_back(grant.hold);
    return holds;
  }
  static std::vector<store::grant> granted_together(store::session& session,
                                                    const std::vector<claim>& wanted) {
    std::vector<store::acquire_item> requests;
    for (const auto& one : wanted) requests.push_back(one.request());
    return session.acquire_all(requests);
  }
  // Requests a lock that is free, one that is as the test has made it, and another that is free. All must be
  // granted, or nothing may have changed.
  bool grants_all(const claim& second) {
    const auto lease = new_lease();
    const claim first{"1", lease};
    const claim third{"z", lease};
    create(std::vector<std::string>{"1", "z"});
    const auto grants = granted_together(*a, {first, {second.name, lease, second.hold}, third});
    const std::vector<hold_id> holds{first.hold, second.hold, third.hold};
    for (const auto& one : {first, claim{second.name, lease, second.hold}, third}) {
      const bool is_held = find(one).state == where::held;
      EXPECT_EQ(is_held, !grants.empty()) << one.name;
      const auto told = std::ranges::find(grants, one.hold, &store::grant::hold);
      EXPECT_EQ(told != grants.end(), is_held) << one.name;
      if (is_held && told != grants.end()) {
        EXPECT_EQ(told->token, find(one).token);
        EXPECT_EQ(view(one.name).row.in_use, 1);
      }
      if (is_held) {
        EXPECT_TRUE(release(one));
      }
    }
    return !grants.empty();
  }
};

TEST_P(acquire_test, grants_a_free_lock) {
  const auto wanted = claim_to("a");
  const auto token = acquire(wanted);
  ASSERT_TRUE(token);
  const auto now = view("a");
  EXPECT_EQ(now.row.lease, wanted.lease);
  EXPECT_EQ(now.row.hold, wanted.hold);
  EXPECT_EQ(now.row.token, *token);
  EXPECT_EQ(now.row.in_use, 1);
}

TEST_P(acquire_test, refuses_a_held_lock) {
  const auto holder = held("a");
  EXPECT_FALSE(acquire(*b, claim_to("a")));
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(acquire_test, refuses_a_lock_whose_holder_has_expired) {
  const auto holder = held("a");
  fixture().expire(holder.lease);
  EXPECT_FALSE(acquire(claim_to("a")));
  EXPECT_EQ(view("a").row.hold, holder.hold);
}

// The fast acquire would have to read another table to know that the holder is dead. The slow path frees such a lock.
TEST_P(acquire_test, refuses_a_lock_whose_holder_is_dead) {
  const auto holder = held("a");
  kill(holder.lease);
  EXPECT_FALSE(acquire(claim_to("a")));
  EXPECT_EQ(view("a").row.hold, holder.hold);
}

TEST_P(acquire_test, refuses_a_free_lock_that_others_wait_for) {
  const auto first = queued("a");
  EXPECT_FALSE(acquire(claim_to("a")));
  EXPECT_THAT(waiting("a"), testing::ElementsAre(first.hold));
}

TEST_P(acquire_test, grants_an_unfair_lock_to_whom_knows_it_though_others_wait) {
  const model::lock_definition locks[] = {{"u", model::lock_kind::mutex, 1, false},
                                          {"v", model::lock_kind::mutex, 1, false}};
  a->create(locks);
  const auto first = queued("u");
  for (const bool several : {false, true}) {
    std::vector<store::acquire_item> requests{claim_to("u").request()};
    if (several) requests.push_back(claim_to("v").request());
    EXPECT_THAT(a->acquire(requests), IsEmpty()) << "requested as a fair one";
    for (auto& request : requests) request.fair = false;
    const auto granted = a->acquire(requests);
    ASSERT_EQ(granted.size(), requests.size());
    EXPECT_THAT(waiting("u"), testing::ElementsAre(first.hold));
    for (const auto& request : requests) {
      end(request.lease);
      edit(request.name, [](const store::lock_view& view) {
        store::lock_change freed;
        freed.row = view.row;
        freed.row->lease.reset();
        freed.row->hold.reset();
        freed.row->in_use = 0;
        return freed;
      });
    }
  }
}

TEST_P(acquire_test, asked_for_as_unfair_refuses_a_fair_lock) {
  auto request = claim_to("a").request();
  request.fair = false;
  EXPECT_THAT(a->acquire(std::vector{request}), IsEmpty());
}

TEST_P(acquire_test, refuses_what_does_not_exist_and_creates_nothing) {
  EXPECT_FALSE(acquire({"a", new_lease()}));
  EXPECT_THAT(a->list(), IsEmpty());
}

TEST_P(acquire_test, refuses_another_capacity_than_stored) {
  create("a");
  auto request = claim{"a", new_lease()}.request();
  request.capacity = 2;
  EXPECT_THAT(a->acquire(std::vector{request}), IsEmpty());
  EXPECT_FALSE(view("a").row.hold);
}

TEST_P(acquire_test, refuses_all_on_another_server) {
  const auto wanted = claim_to("a");
  fixture().change_identity();
  EXPECT_FALSE(acquire(wanted));
  a->record_database_state();
  EXPECT_TRUE(acquire(wanted));
}

TEST_P(acquire_test, skips_a_row_that_is_locked) {
  ROWLOCK_NEEDS(row_locks);
  const auto wanted = claim_to("a");
  auto rival = fixture().lock_row("a");
  EXPECT_FALSE(acquire(wanted));
  rival.reset();
  EXPECT_TRUE(acquire(wanted));
}

TEST_P(acquire_test, refuses_a_guarded_lock) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  const auto guard = fixture().guard("a", holder.hold);
  EXPECT_FALSE(acquire(claim_to("a")));
}

TEST_P(acquire_test, sent_again_grants_nothing_more) {
  const auto wanted = claim_to("a");
  const auto token = acquire(wanted);
  EXPECT_FALSE(acquire(wanted));
  const auto status = find(wanted);
  EXPECT_EQ(status.state, where::held);
  EXPECT_EQ(status.token, token);
}

TEST_P(acquire_test, after_a_release_grants_again_with_a_higher_token) {
  const auto first = claim_to("a");
  const auto second = claim_to("a");
  const auto low = acquire(first);
  ASSERT_TRUE(release(first));
  const auto high = acquire(second);
  ASSERT_TRUE(high);
  EXPECT_GT(*high, *low);
}

TEST_P(acquire_test, of_a_batch_grants_what_is_free) {
  const auto one = claim_to("a");
  held("b");
  const auto two = claim_to("b");
  const auto missing = claim{"c", new_lease()};
  queued("d");
  const auto three = claim_to("d");
  const auto four = claim_to("e");
  EXPECT_THAT(granted({one, two, missing, three, four}), UnorderedElementsAre(one.hold, four.hold));
}

TEST_P(acquire_test, of_a_batch_may_come_unsorted) {
  const auto one = claim_to("z");
  const auto two = claim_to("a");
  EXPECT_THAT(granted({one, two}), UnorderedElementsAre(one.hold, two.hold));
  EXPECT_EQ(view("z").row.hold, one.hold);
  EXPECT_EQ(view("a").row.hold, two.hold);
}

TEST_P(acquire_test, of_a_batch_answers_each_hold_with_its_own_token) {
  for (int i = 0; i < 3; ++i) next_token_of("b");
  const auto one = claim_to("a");
  const auto two = claim_to("b");
  for (const auto& grant : a->acquire(std::vector{one.request(), two.request()})) {
    EXPECT_EQ(grant.token, view(grant.hold == one.hold ? "a" : "b").row.token);
  }
  EXPECT_NE(find(one).token, find(two).token);
}

TEST_P(acquire_test, of_a_batch_does_not_stall_behind_one_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  const auto one = claim_to("a");
  const auto two = claim_to("b");
  const auto three = claim_to("c");
  const auto rival = fixture().lock_row("b");
  EXPECT_THAT(granted({one, two, three}), UnorderedElementsAre(one.hold, three.hold));
}

// ---- all or none

TEST_P(acquire_test, all_are_granted_if_all_are_free) {
  EXPECT_TRUE(grants_all(claim_to("m")));
  const auto low = view("m").row.token;
  EXPECT_TRUE(grants_all(claim_to("m")));
  EXPECT_GT(view("m").row.token, low);
}

TEST_P(acquire_test, none_is_granted_if_one_is_taken_waited_for_missing_or_another_one) {
  const auto holder = held("a");
  EXPECT_FALSE(grants_all({"a", holder.lease}));
  fixture().expire(holder.lease);
  EXPECT_FALSE(grants_all({"a", holder.lease})) << "its holder has expired";
  kill(holder.lease);
  EXPECT_FALSE(grants_all({"a", holder.lease})) << "its holder is dead";
  queued("b");
  EXPECT_FALSE(grants_all({"b", new_lease()})) << "somebody waits";
  EXPECT_FALSE(grants_all({"c", new_lease()})) << "there is no such lock";
  EXPECT_EQ(a->show("c"), std::nullopt);
  const model::lock_definition other[] = {{"d", model::lock_kind::semaphore, 3}};
  a->create(other);
  EXPECT_FALSE(grants_all({"d", new_lease()})) << "it is of another kind";
  EXPECT_EQ(view("a").row.hold, holder.hold);
  EXPECT_TRUE(grants_all(claim_to("e")));
}

TEST_P(acquire_test, none_is_granted_if_one_row_is_locked) {
  ROWLOCK_NEEDS(row_locks);
  const auto wanted = claim_to("m");
  auto rival = fixture().lock_row("m");
  EXPECT_FALSE(grants_all(wanted));
  rival.reset();
  EXPECT_TRUE(grants_all(wanted));
}

TEST_P(acquire_test, none_is_granted_on_another_server) {
  const auto wanted = claim_to("m");
  fixture().change_identity();
  EXPECT_FALSE(grants_all(wanted));
  a->record_database_state();
  EXPECT_TRUE(grants_all(wanted));
}

TEST_P(acquire_test, all_have_tokens_of_the_epoch) {
  const auto wanted = claim_to("m");
  a->raise_epoch(view("m").row.token + 1000);
  const auto lease = new_lease();
  create("1");
  const auto grants = granted_together(*a, {{"1", lease}, {"m", lease}});
  ASSERT_EQ(grants.size(), 2U);
  for (const auto& one : grants) EXPECT_GE(one.token, view("m").epoch_floor);
}

// Two clients want the same three locks, each at the same time; each gets all of them or none.
TEST_P(acquire_test, groups_of_several_clients_never_overlap) {
  create({"a", "b", "c"});
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  std::atomic<int> parts = 0;
  const auto work = [&](store::session& session, lease_id lease) {
    for (int visits = 0; visits < 25;) {
      const std::vector<claim> wanted{{"a", lease}, {"b", lease}, {"c", lease}};
      const auto grants = granted_together(session, wanted);
      if (grants.empty()) {
        std::this_thread::yield();
        continue;
      }
      ++visits;
      parts += grants.size() != wanted.size();
      overlaps += inside.fetch_add(1);
      inside.fetch_sub(1);
      for (const auto& one : wanted) {
        while (!release(session, one)) std::this_thread::yield();
      }
    }
  };
  std::vector<std::thread> threads;
  const auto first = new_lease(10min);
  const auto second = new_lease(10min);
  threads.emplace_back(work, std::ref(*a), first);
  threads.emplace_back(work, std::ref(*b), second);
  for (auto& one : threads) one.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(parts, 0);
}

TEST_P(acquire_test, of_many_at_once) {
  const auto lease = new_lease();
  std::vector<std::string> names;
  std::vector<claim> wanted;
  for (int i = 0; i < 200; ++i) {
    names.push_back("lock-" + std::to_string(i));
    wanted.push_back({names.back(), lease});
  }
  create(names);
  std::vector<hold_id> all;
  for (const auto& one : wanted) all.push_back(one.hold);
  EXPECT_THAT(granted(wanted), testing::UnorderedElementsAreArray(all));
}

TEST_P(acquire_test, of_none_is_nothing) {
  EXPECT_THAT(a->acquire({}), IsEmpty());
}

TEST_P(acquire_test, takes_names_bytewise) {
  const std::vector<std::string> names{"a",
                                       "A",
                                       "a ",
                                       " a",
                                       "\xC3\xA4" /* precomposed */,
                                       "a\xCC\x88" /* the same, composed */,
                                       "%",
                                       "_",
                                       "\\",
                                       "a,b",
                                       "{a}",
                                       "\"a\"",
                                       "'",
                                       "NULL",
                                       "$1",
                                       "?1",
                                       "[]",
                                       "\\u0041",
                                       std::string(512, 'x'),
                                       std::string(511, 'x'),
                                       "\xF0\x9F\x94\x92"};
  create(names);
  std::vector<claim> wanted;
  const auto lease = new_lease();
  for (const auto& name : names) wanted.push_back({name, lease});
  EXPECT_EQ(granted(wanted).size(), names.size());
  for (const auto& one : wanted) {
    EXPECT_EQ(view(one.name).row.hold, one.hold) << one.name;
    EXPECT_EQ(find(one).state, where::held) << one.name;
  }
}

// A character set with three bytes a character turns each of these characters into the same question mark.
TEST_P(acquire_test, tells_names_apart_that_a_smaller_character_set_lacks) {
  std::vector<claim> claims;
  for (const auto* name : {"\xF0\x9F\x98\x80", "?", "\xF0\x9F\x8E\x89", "????"})
    claims.push_back(claim_to(name));
  for (const auto& one : claims) {
    ASSERT_TRUE(acquire(one)) << one.name;
    EXPECT_EQ(view(one.name).row.hold, one.hold);
    EXPECT_FALSE(acquire(*b, claim_to(one.name)));
  }
  for (const auto& one : claims) {
    EXPECT_TRUE(release(one)) << one.name;
    EXPECT_FALSE(view(one.name).row.hold);
  }
}

TEST_P(acquire_test, of_one_free_lock_by_two_at_once_is_granted_to_one) {
  create("a");
  for (int round = 0; round < 20; ++round) {
    const auto one = claim_to("a");
    const auto two = claim_to("a");
    std::optional<model::token> first;
    std::optional<model::token> second;
    std::thread rival{[&] { first = acquire(*a, one); }};
    second = acquire(*b, two);
    rival.join();
    ASSERT_FALSE(first && second);
    // Each of the two acquires may have skipped the row while the other had it locked.
    EXPECT_EQ(release(one), first.has_value());
    EXPECT_EQ(release(two), second.has_value());
  }
}

ROWLOCK_FOR_EACH_STORE(acquire_test);

}  // namespace
}  // namespace rowlock::test
