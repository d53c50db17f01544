// Shared and counted holds: every reading verb sees what an edit has written.
#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using model::lock_kind;
using model::lock_mode;
using testing::ElementsAre;
using testing::IsEmpty;

class permit_test : public contract_test {
 protected:
  void create_semaphore(const std::string& name, std::int64_t capacity = 10,
                        lock_kind kind = lock_kind::semaphore) {
    a->create(std::vector<model::lock_definition>{{name, kind, capacity}});
  }

  // Shares the lock, whether the weight fits or not.
  claim shared(const std::string& name, std::int64_t weight = 1, lease_id lease = {}) {
    claim made{name, lease.is_nil() ? new_lease() : lease};
    edit(name, [&](const store::lock_view& now) { return share(now, made, weight); });
    return made;
  }
  static store::lock_change share(const store::lock_view& now, const claim& by, std::int64_t weight) {
    store::lock_change change;
    change.row = now.row;
    change.row->token = model::next_token(now.row.token, now.epoch_floor);
    change.row->in_use += weight;
    change.add_permits.push_back({by.hold, by.lease, weight, change.row->token});
    change.granted_now = true;
    change.durable = true;
    return change;
  }
  edit_result give_back(const claim& held) {
    return edit(held.name, [&](const store::lock_view& now) {
      store::lock_change change;
      change.row = now.row;
      for (const auto& one : now.permits) {
        if (one.permit.hold == held.hold) change.row->in_use -= one.permit.weight;
      }
      change.remove_permits.push_back(held.hold);
      return change;
    });
  }
  store::lock_view trusting_view(const std::string& name, std::vector<hold_id> permits_of,
                                 std::int64_t wanted) {
    store::lock_view seen;
    store::edit_request asked{name, {}, [&](const store::lock_view& now) {
                                seen = now;
                                return store::lock_change{};
                              }};
    asked.permits_of = std::move(permits_of);
    asked.wanted = wanted;
    EXPECT_THAT(a->edit({&asked, 1}), ElementsAre(edit_result::committed));
    return seen;
  }
  claim queued_to_share(const std::string& name, std::int64_t weight) {
    claim made{name, new_lease()};
    edit(name, [&](const store::lock_view& now) {
      store::lock_change change;
      change.row = now.row;
      change.row->has_queue = true;
      change.enqueue = {{change.row->next_ticket++, made.hold, made.lease, weight, lock_mode::shared}};
      return change;
    });
    return made;
  }
};

TEST_P(permit_test, an_edit_sees_the_kind_the_capacity_and_the_fairness) {
  a->create(
      std::vector<model::lock_definition>{{"a", lock_kind::semaphore, 7, false, 5s},
                                          {"b", lock_kind::shared_mutex, model::shared_mutex_capacity}});
  const auto one = view("a").row;
  EXPECT_EQ(one.kind, lock_kind::semaphore);
  EXPECT_EQ(one.capacity, 7);
  EXPECT_FALSE(one.fair);
  EXPECT_EQ(one.delay, 5s);
  const auto other = view("b").row;
  EXPECT_EQ(other.kind, lock_kind::shared_mutex);
  EXPECT_TRUE(other.fair);
  EXPECT_EQ(other.delay, 0s);
}

TEST_P(permit_test, an_edit_that_trusts_in_use_reads_only_the_permits_that_it_names) {
  create_semaphore("a", 100);
  const auto mine = shared("a", 2);
  const auto dead = shared("a", 4);
  for (int i = 0; i < 20; ++i) shared("a", 1, mine.lease);
  end(dead.lease);
  store::lock_view seen;
  store::edit_request asked{"a", mine.hold, [&](const store::lock_view& now) {
                              seen = now;
                              store::lock_change change;
                              change.row = now.row;
                              change.row->in_use = now.unread_weight;
                              change.remove_permits.push_back(mine.hold);
                              return change;
                            }};
  asked.permits_of = {mine.hold};
  ASSERT_THAT(a->edit({&asked, 1}), ElementsAre(edit_result::committed));
  ASSERT_EQ(seen.permits.size(), 1U);
  EXPECT_EQ(seen.permits[0].permit.hold, mine.hold);
  EXPECT_EQ(seen.permits[0].permit.weight, 2);
  EXPECT_FALSE(seen.permits[0].guarded);
  EXPECT_EQ(seen.unread_weight, 24);
  const auto left = view("a");
  EXPECT_EQ(left.row.in_use, 24);
  EXPECT_EQ(left.permits.size(), 21U);
  EXPECT_EQ(left.unread_weight, 0);
}

TEST_P(permit_test, an_edit_that_finds_no_room_learns_when_a_lease_of_other_permits_may_be_killed) {
  create_semaphore("a");
  const auto mine = shared("a", 2);
  const auto other = shared("a", 3);
  const auto third = shared("a", 1);
  const auto wants = [&](std::int64_t wanted) { return trusting_view("a", {mine.hold}, wanted); };
  EXPECT_EQ(wants(4).unread_takeover_in, std::nullopt) << "there is room";
  EXPECT_EQ(wants(0).unread_takeover_in, std::nullopt);
  create_semaphore("free");
  EXPECT_EQ(trusting_view("free", {}, 11).unread_takeover_in, std::nullopt) << "nobody has a permit";
  const auto full = wants(5);
  EXPECT_EQ(full.permits.size(), 1U);
  EXPECT_EQ(full.unread_weight, 4);
  ASSERT_TRUE(full.unread_takeover_in);
  EXPECT_GT(*full.unread_takeover_in, 20s);
  EXPECT_LE(*full.unread_takeover_in, 30s);
  fixture().expire(third.lease);
  EXPECT_LT(*wants(5).unread_takeover_in, 0s);
  end(third.lease);
  EXPECT_EQ(*wants(5).unread_takeover_in, 0s) << "one of them is dead";
  EXPECT_EQ(wants(5).unread_weight, 4) << "that permit is still there";
}

TEST_P(permit_test,
       an_edit_that_somebody_waits_before_learns_when_a_lease_may_be_killed_though_there_is_room) {
  create_semaphore("a");
  const auto held = shared("a", 3);
  queued_to_share("a", 9);
  const auto seen = trusting_view("a", {}, 1);
  EXPECT_EQ(seen.unread_weight, 3);
  EXPECT_EQ(seen.queue.size(), 1U);
  ASSERT_TRUE(seen.unread_takeover_in);
  EXPECT_GT(*seen.unread_takeover_in, 20s);
}

TEST_P(permit_test, an_edit_learns_nothing_of_other_permits_beside_an_exclusive_holder) {
  create("m");
  held("m");
  const auto seen = trusting_view("m", {hold_id::random()}, 1);
  EXPECT_EQ(seen.unread_takeover_in, std::nullopt);
  EXPECT_EQ(seen.unread_weight, 0);
}

TEST_P(permit_test, one_edit_reads_all_permits_of_one_lock_and_some_of_another) {
  create_semaphore("a");
  create_semaphore("b");
  create_semaphore("c");
  const auto all = shared("a", 2);
  const auto also = shared("a", 3);
  const auto some = shared("b", 4);
  const auto more = shared("b", 1);
  const auto unread = shared("b", 5);
  const auto other = shared("c", 6);
  std::vector<store::lock_view> seen(3);
  std::vector<store::edit_request> asked;
  for (const std::string name : {"a", "b", "c"}) {
    asked.push_back({name, {}, [&seen, at = asked.size()](const store::lock_view& now) {
                       seen[at] = now;
                       return store::lock_change{};
                     }});
  }
  asked[1].permits_of = {some.hold, more.hold, hold_id::random()};
  asked[1].wanted = 1;
  asked[2].permits_of.emplace();
  asked[2].wanted = 5;
  a->edit(asked);
  const auto holds = [](const store::lock_view& view) {
    std::vector<hold_id> found;
    for (const auto& entry : view.permits) found.push_back(entry.permit.hold);
    return found;
  };
  EXPECT_THAT(holds(seen[0]), ElementsAre(all.hold, also.hold));
  EXPECT_EQ(seen[0].unread_weight, 0);
  EXPECT_EQ(seen[0].unread_takeover_in, std::nullopt);
  EXPECT_THAT(holds(seen[1]), ElementsAre(some.hold, more.hold));
  EXPECT_EQ(seen[1].unread_weight, 5);
  EXPECT_TRUE(seen[1].unread_takeover_in);
  EXPECT_THAT(holds(seen[2]), IsEmpty());
  EXPECT_EQ(seen[2].unread_weight, 6);
  EXPECT_TRUE(seen[2].unread_takeover_in);
}

TEST_P(permit_test, all_who_wait_for_one_lock_learn_when_a_lease_in_their_way_may_be_killed) {
  create_semaphore("a");
  const auto holder = shared("a", 10);
  const auto first = queued_to_share("a", 1);
  const auto second = queued_to_share("a", 1);
  const auto asks = [&] {
    return a->find(std::vector<store::hold_query>{{"a", holder.hold},
                                                  {"a", first.hold},
                                                  {"b", first.hold},
                                                  {"a", second.hold},
                                                  {"a", hold_id::random()}});
  };
  auto found = asks();
  EXPECT_EQ(found[0].state, where::held);
  EXPECT_EQ(found[0].takeover_in, std::nullopt);
  EXPECT_EQ(found[2].takeover_in, std::nullopt) << "there is no such lock";
  for (const auto i : {1U, 3U, 4U}) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].state, i == 4 ? where::absent : where::queued);
    ASSERT_TRUE(found[i].takeover_in);
    EXPECT_GT(*found[i].takeover_in, 20s);
  }
  end(holder.lease);
  found = asks();
  for (const auto i : {0U, 1U, 3U, 4U}) EXPECT_EQ(found[i].takeover_in, 0us) << i;
}

TEST_P(permit_test, an_edit_replaces_a_permit_by_a_smaller_one) {
  create_semaphore("a");
  const auto held = shared("a", 7);
  const auto before = view("a").permits.at(0).permit;
  fixture().age("a", 1h);
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->in_use = 2;
    change.remove_permits.push_back(held.hold);
    change.add_permits.push_back({held.hold, held.lease, 2, before.token});
    change.durable = true;
    return change;
  });
  const auto now = view("a");
  ASSERT_EQ(now.permits.size(), 1U);
  EXPECT_EQ(now.permits[0].permit.hold, held.hold);
  EXPECT_EQ(now.permits[0].permit.lease, held.lease);
  EXPECT_EQ(now.permits[0].permit.token, before.token);
  EXPECT_EQ(now.permits[0].permit.weight, 2);
  EXPECT_EQ(now.row.in_use, 2);
  const auto shown = a->show("a").value().holders.at(0);
  EXPECT_EQ(shown.weight, 2);
  EXPECT_GE(shown.held_for, 1h) << "it has held since it acquired";
}

// The limit counts locks, not holders.
TEST_P(permit_test, a_page_of_the_list_has_all_holders_of_its_locks) {
  create_semaphore("a");
  create_semaphore("b");
  for (int i = 0; i < 3; ++i) shared("a");
  shared("b");
  const auto first = a->list("", 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].holders.size(), 3U);
  const auto second = a->list("a", 1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].row.name, "b");
  EXPECT_EQ(second[0].holders.size(), 1U);
}

TEST_P(permit_test, an_edit_sees_all_permits_with_their_leases) {
  create_semaphore("a");
  const auto one = shared("a", 2);
  const auto two = shared("a", 3);
  kill(one.lease);
  const auto now = view("a");
  EXPECT_EQ(now.row.in_use, 5);
  EXPECT_FALSE(now.row.hold);
  ASSERT_EQ(now.permits.size(), 2U);
  EXPECT_EQ(now.permits[0].permit.hold, one.hold);
  EXPECT_EQ(now.permits[0].permit.weight, 2);
  EXPECT_FALSE(now.permits[0].lease);
  EXPECT_EQ(now.permits[1].permit.hold, two.hold);
  EXPECT_EQ(now.permits[1].permit.lease, two.lease);
  EXPECT_EQ(now.permits[1].permit.weight, 3);
  EXPECT_EQ(now.permits[1].permit.token, now.row.token);
  EXPECT_EQ(now.permits[1].lease.value().client, two.lease);
  EXPECT_EQ(give_back(one), edit_result::committed);
  EXPECT_EQ(view("a").permits.size(), 1U);
  EXPECT_EQ(view("a").row.in_use, 3);
}

TEST_P(permit_test, of_one_name_are_not_seen_under_another) {
  create_semaphore("a");
  create_semaphore("b");
  shared("a");
  EXPECT_THAT(view("b").permits, IsEmpty());
}

TEST_P(permit_test, may_be_replaced_in_one_change) {
  create_semaphore("a");
  const auto held = shared("a", 2);
  store::lease_record to{lease_id::random(), held.lease, "host", 1, "test", 20s};
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    auto moved = now.permits.at(0).permit;
    moved.lease = to.id;
    change.remove_permits.push_back(held.hold);
    change.add_permits.push_back(moved);
    change.create_leases = {to};
    return change;
  });
  const auto now = view("a");
  ASSERT_EQ(now.permits.size(), 1U);
  EXPECT_EQ(now.permits[0].permit.lease, to.id);
  EXPECT_EQ(now.permits[0].lease.value().client, held.lease);
}

TEST_P(permit_test, waiters_have_a_weight_and_a_mode) {
  create_semaphore("a");
  shared("a", 10);
  const auto waiter = queued_to_share("a", 4);
  const auto now = view("a", waiter.hold);
  ASSERT_EQ(now.queue.size(), 1U);
  for (const auto& seen : {now.queue[0].waiter, now.own.value(), a->queue("a").at(0).waiter}) {
    EXPECT_EQ(seen.hold, waiter.hold);
    EXPECT_EQ(seen.weight, 4);
    EXPECT_EQ(seen.mode, lock_mode::shared);
  }
}

TEST_P(permit_test, are_found_as_held_with_their_own_token) {
  create_semaphore("a");
  const auto one = shared("a");
  const auto token = view("a").row.token;
  const auto two = shared("a");
  EXPECT_EQ(find(one).state, where::held);
  EXPECT_EQ(find(one).token, token);
  EXPECT_EQ(find(one).lease, one.lease);
  EXPECT_EQ(find(two).token, view("a").row.token);
  kill(one.lease);
  EXPECT_EQ(find(one).state, where::absent);
  EXPECT_EQ(find(two).state, where::held);
  EXPECT_EQ(a->find(std::vector<store::hold_query>{{"a", one.hold}, {"a", two.hold}}).at(1).state,
            where::held);
}

TEST_P(permit_test, a_waiter_learns_of_the_earliest_lease_in_the_way) {
  create_semaphore("a");
  const auto one = shared("a", 5, new_lease(25s));
  const auto two = shared("a", 5, new_lease(12s));
  const auto waiter = queued_to_share("a", 1);
  const auto status = find(waiter);
  EXPECT_EQ(status.state, where::queued);
  EXPECT_EQ(status.kind, lock_kind::semaphore);
  EXPECT_EQ(status.capacity, 10);
  EXPECT_EQ(status.in_use, 10);
  EXPECT_TRUE(status.fair);
  EXPECT_GT(status.takeover_in.value(), 5s);
  EXPECT_LE(status.takeover_in.value(), 12s);
  kill(one.lease);
  EXPECT_LE(find(waiter).takeover_in.value(), 0s) << "an edit would grant";
  EXPECT_LE(a->find(std::vector<store::hold_query>{{"b", {}}, {"a", waiter.hold}}).at(1).takeover_in.value(),
            0s);
}

TEST_P(permit_test, a_head_of_the_queue_that_dies_is_in_the_way) {
  create_semaphore("a");
  shared("a", 9);
  const auto head = queued_to_share("a", 5);
  const auto behind = queued_to_share("a", 1);
  EXPECT_GT(find(behind).takeover_in.value(), 5s);
  fixture().expire(head.lease);
  EXPECT_LT(find(behind).takeover_in.value(), 0s);
  kill(head.lease);
  EXPECT_LE(find(behind).takeover_in.value(), 0s);
}

TEST_P(permit_test, the_fast_statements_leave_a_shared_lock_alone) {
  create_semaphore("a", 1, lock_kind::mutex);
  const auto held = shared("a");
  const auto rival = claim{"a", new_lease()};
  EXPECT_FALSE(acquire(rival));
  EXPECT_FALSE(release(held));
  EXPECT_FALSE(a->enqueue(rival.request(), 0us));
  EXPECT_FALSE(a->hand_over(held.giving_back(), 0us));
  EXPECT_EQ(view("a").permits.size(), 1U);
  give_back(held);
  EXPECT_TRUE(acquire(rival));
}

TEST_P(permit_test, a_hand_over_says_nothing_where_the_head_shares) {
  const auto holder = held("a");
  queued_to_share("a", 1);
  EXPECT_FALSE(a->hand_over(holder.giving_back(), 0us));
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(permit_test, are_listed_as_holders_with_their_weight) {
  create_semaphore("a");
  held("b");
  const auto one = shared("a", 2);
  const auto two = shared("a", 3);
  shared("a", 4, [&] {
    const auto dead = new_lease();
    end(dead);
    return dead;
  }());
  queued_to_share("a", 5);
  const auto all = a->list();
  ASSERT_EQ(all.size(), 2U);
  for (const auto& info : {all[0], a->show("a").value()}) {
    EXPECT_EQ(info.row.name, "a");
    EXPECT_EQ(info.row.kind, lock_kind::semaphore);
    EXPECT_EQ(info.waiters, 1);
    ASSERT_EQ(info.holders.size(), 2U);
    EXPECT_EQ(info.holders[0].hold, one.hold);
    EXPECT_EQ(info.holders[0].weight, 2);
    EXPECT_EQ(info.holders[0].mode, lock_mode::shared);
    EXPECT_LT(info.holders[0].token, info.holders[1].token);
    EXPECT_EQ(info.holders[1].hold, two.hold);
    EXPECT_EQ(info.holders[1].lease.id, two.lease);
    EXPECT_EQ(info.holders[1].weight, 3);
    EXPECT_GT(info.holders[1].expires_in, 5s);
    EXPECT_LT(info.holders[1].held_for, 5s);
  }
  ASSERT_EQ(all[1].holders.size(), 1U);
  EXPECT_EQ(all[1].holders[0].mode, lock_mode::exclusive);
  EXPECT_EQ(all[1].holders[0].weight, 1);
}

TEST_P(permit_test, of_the_dead_are_stale_but_a_latchs) {
  create_semaphore("a");
  create_semaphore("b", 3, lock_kind::latch);
  kill(shared("a").lease);
  kill(shared("b").lease);
  EXPECT_THAT(a->find_stale(100, 0us).names, ElementsAre("a"));
}

TEST_P(permit_test, keep_their_lock_from_being_collected) {
  create_semaphore("a");
  const auto held = shared("a");
  fixture().age("a", 1h);
  EXPECT_EQ(a->collect(0s, 100), 0);
  give_back(held);
  fixture().age("a", 1h);
  EXPECT_EQ(a->collect(0s, 100), 1);
}

TEST_P(permit_test, the_capacity_can_change) {
  create_semaphore("a");
  edit("a", [](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->capacity = 3;
    return change;
  });
  EXPECT_EQ(view("a").row.capacity, 3);
}

TEST_P(permit_test, a_guard_of_one_stands_and_proves_nothing_for_what_is_gone) {
  create_semaphore("a");
  const auto one = shared("a");
  const auto two = shared("a");
  EXPECT_TRUE(fixture().guard("a", one.hold, lock_mode::shared));
  give_back(two);
  EXPECT_FALSE(fixture().guard("a", two.hold, lock_mode::shared));
  EXPECT_TRUE(fixture().guard("a", one.hold, lock_mode::shared));
}

TEST_P(permit_test, others_may_come_beside_a_guard) {
  ROWLOCK_NEEDS(row_locks);
  create_semaphore("a");
  const auto held = shared("a");
  const auto guard = fixture().guard("a", held.hold, lock_mode::shared);
  ASSERT_TRUE(guard);
  EXPECT_FALSE(view("a").replaceable);
  const auto other = shared("a");
  EXPECT_EQ(find(other).state, where::held);
  EXPECT_TRUE(fixture().guard("a", other.hold, lock_mode::shared));
}

ROWLOCK_FOR_EACH_STORE(permit_test);

}  // namespace
}  // namespace rowlock::test
