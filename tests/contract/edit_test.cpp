#include "contract/contract_test.hpp"
#include "store/lock_columns.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class edit_test : public contract_test {
 protected:
  // For stores on which a guard keeps every other transaction from the row (InnoDB).
  void skips_until_it_ends(store_fixture::rival& guard) {
    EXPECT_EQ(edit("a", nothing), edit_result::skipped);
    guard.reset();
    EXPECT_EQ(edit("a", nothing), edit_result::committed);
  }
};

TEST_P(edit_test, of_a_missing_lock_decides_nothing) {
  int calls = 0;
  EXPECT_EQ(edit("a", [&](const auto&) { return ++calls, store::lock_change{}; }), edit_result::missing);
  EXPECT_EQ(calls, 0);
}

TEST_P(edit_test, sees_a_free_lock) {
  create("a");
  const auto now = view("a");
  EXPECT_EQ(now.row.name, "a");
  EXPECT_EQ(now.row.kind, model::lock_kind::mutex);
  EXPECT_EQ(now.row.capacity, 1);
  EXPECT_EQ(now.row.in_use, 0);
  EXPECT_FALSE(now.row.lease);
  EXPECT_FALSE(now.row.hold);
  EXPECT_FALSE(now.row.has_queue);
  EXPECT_TRUE(now.replaceable);
  EXPECT_FALSE(now.holder);
  EXPECT_THAT(now.queue, IsEmpty());
  EXPECT_TRUE(now.queue_complete);
  EXPECT_FALSE(now.own);
  EXPECT_TRUE(now.is_recorded_server);
  EXPECT_GE(now.epoch_floor, model::epoch_floor(a->read_database_state().epoch));
}

TEST_P(edit_test, sees_the_holder_and_its_client) {
  create("a");
  store::lease_record lease;
  lease.id = lease_id::random();
  lease.client = new_lease();
  lease.ttl = 20s;
  a->create_lease(lease);
  ASSERT_TRUE(acquire({"a", lease.id}));
  const auto holder = view("a").holder;
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->id, lease.id);
  EXPECT_EQ(holder->client, lease.client);
  EXPECT_GT(holder->expires_in, 10s);
  EXPECT_LE(holder->expires_in, 20s);
}

TEST_P(edit_test, sees_an_expired_holder_as_living) {
  const auto holder = held("a");
  fixture().expire(holder.lease, 5s);
  const auto now = view("a");
  ASSERT_TRUE(now.holder);
  EXPECT_LE(now.holder->expires_in, -5s);
}

TEST_P(edit_test, sees_a_dead_holder_as_none) {
  const auto holder = held("a");
  kill(holder.lease);
  const auto now = view("a");
  EXPECT_EQ(now.row.hold, holder.hold);
  EXPECT_FALSE(now.holder);
}

TEST_P(edit_test, sees_the_queue_in_ticket_order_with_the_dead) {
  held("a");
  const auto one = queued("a");
  const auto two = queued("a");
  const auto three = queued("a");
  kill(two.lease);
  fixture().expire(three.lease);
  const auto now = view("a", three.hold);
  ASSERT_EQ(now.queue.size(), 3U);
  EXPECT_EQ(now.queue[0].waiter.hold, one.hold);
  EXPECT_EQ(now.queue[0].waiter.lease, one.lease);
  EXPECT_EQ(now.queue[0].lease.value().client, one.lease);
  EXPECT_EQ(now.queue[1].waiter.hold, two.hold);
  EXPECT_FALSE(now.queue[1].lease);
  EXPECT_LT(now.queue[2].lease.value().expires_in, 0s);
  EXPECT_LT(now.queue[0].waiter.ticket, now.queue[1].waiter.ticket);
  EXPECT_LT(now.queue[1].waiter.ticket, now.queue[2].waiter.ticket);
  EXPECT_EQ(now.row.next_ticket, now.queue[2].waiter.ticket + 1);
  EXPECT_TRUE(now.row.has_queue);
  EXPECT_EQ(now.own.value().ticket, now.queue[2].waiter.ticket);
}

TEST_P(edit_test, sees_a_long_queue_in_part_and_its_own_place_wherever) {
  held("a");
  const auto lease = new_lease();
  hold_id last;
  for (std::size_t i = 0; i <= store::queue_window; ++i) edit("a", enqueue(lease, last = hold_id::random()));
  const auto now = view("a", last);
  EXPECT_EQ(now.queue.size(), store::queue_window);
  EXPECT_FALSE(now.queue_complete);
  ASSERT_TRUE(now.own);
  EXPECT_EQ(now.own->hold, last);
  EXPECT_EQ(now.own->lease, lease);
  EXPECT_EQ(now.own->ticket, now.row.next_ticket - 1);

  edit("a", leave(last), last);
  EXPECT_TRUE(view("a").queue_complete) << "exactly the window stands there now";
}

TEST_P(edit_test, without_a_change_writes_nothing) {
  const auto holder = held("a");
  const auto before = view("a");
  EXPECT_EQ(edit("a", nothing), edit_result::committed);
  const auto after = view("a");
  EXPECT_EQ(after.row.hold, holder.hold);
  EXPECT_EQ(after.row.token, before.row.token);
  EXPECT_EQ(after.row.next_ticket, before.row.next_ticket);
}

TEST_P(edit_test, decides_once) {
  const auto waiter = claim_to("a");
  int calls = 0;
  edit("a", [&](const store::lock_view& now) { return ++calls, enqueue(waiter.lease, waiter.hold)(now); });
  EXPECT_EQ(calls, 1);
}

TEST_P(edit_test, grants_and_stamps_the_time_of_acquire) {
  const auto wanted = claim_to("a");
  fixture().age("a", 1h);
  EXPECT_EQ(edit("a", grant_to(wanted.lease, wanted.hold)), edit_result::committed);
  const auto info = b->show("a").value();
  EXPECT_EQ(info.row.hold, wanted.hold);
  EXPECT_EQ(info.row.in_use, 1);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_LT(info.holders[0].held_for, 30min);
}

TEST_P(edit_test, keeps_the_time_of_acquire_when_the_grant_is_not_new) {
  held("a");
  fixture().age("a", 1h);
  queued("a");
  EXPECT_GE(b->show("a").value().holders.at(0).held_for, 1h);
}

TEST_P(edit_test, writes_the_whole_row) {
  held("a");
  edit("a", [](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->token += 7;
    change.row->next_ticket += 5;
    change.row->has_queue = true;
    return change;
  });
  const auto before = view("a").row;
  edit("a", [](const store::lock_view& now) { return hand_over(now); });
  const auto after = view("a").row;
  EXPECT_EQ(after.token, before.token);
  EXPECT_EQ(after.next_ticket, before.next_ticket);
  EXPECT_FALSE(after.has_queue);
  EXPECT_FALSE(after.lease);
  EXPECT_FALSE(after.hold);
  EXPECT_EQ(after.in_use, 0);
}

TEST_P(edit_test, dequeues_those_that_it_names) {
  held("a");
  const auto one = queued("a");
  const auto two = queued("a");
  const auto three = queued("a");
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.dequeue = {three.hold, one.hold, hold_id::random()};
    return change;
  });
  EXPECT_THAT(waiting("a"), ElementsAre(two.hold));
}

TEST_P(edit_test, dequeues_of_its_own_lock_alone) {
  const auto waiter = queued("a");
  create("b");
  edit("b", leave(waiter.hold));
  EXPECT_THAT(waiting("a"), ElementsAre(waiter.hold));
}

TEST_P(edit_test, creates_an_explicit_lease_with_the_grant) {
  create("a");
  store::lease_record lease;
  lease.id = lease_id::random();
  lease.client = new_lease();
  lease.host = "host";
  lease.ttl = 700ms;
  edit("a", [&](const store::lock_view& now) {
    auto change = grant_to(lease.id, hold_id::random())(now);
    change.create_leases = {lease};
    return change;
  });
  const auto holder = view("a").holder;
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->client, lease.client);
  EXPECT_LE(holder->expires_in, 700ms);
  EXPECT_EQ(a->show("a").value().holders.at(0).lease.host, "host");
}

// The waiter queued on its process's lease. Its hold goes on, with its token, on a lease of its own.
TEST_P(edit_test, moves_a_hold_to_an_explicit_lease) {
  const auto holder = held("a");
  const auto token = find(holder).token;
  store::lease_record lease;
  lease.id = lease_id::random();
  lease.client = holder.lease;
  lease.ttl = 700ms;
  edit("a", [&](const store::lock_view& now) {
    store::lock_change change;
    change.row = now.row;
    change.row->lease = lease.id;
    change.create_leases = {lease};
    change.durable = true;
    return change;
  });
  const auto status = find(holder);
  EXPECT_EQ(status.state, where::held);
  EXPECT_EQ(status.lease, lease.id);
  EXPECT_EQ(status.token, token);
  EXPECT_TRUE(renew(holder.lease)) << "the process's lease lives on";
}

TEST_P(edit_test, ends_leases_with_the_hold_that_they_carried) {
  const auto holder = held("a");
  edit("a", [&](const store::lock_view& now) {
    auto change = hand_over(now);
    change.end_leases = {holder.lease};
    return change;
  });
  EXPECT_FALSE(renew(holder.lease));
  EXPECT_FALSE(view("a").row.hold);
}

TEST_P(edit_test, bumps_the_notice_of_a_lease) {
  const auto lease = new_lease();
  const auto before = renew(lease).value().notice;
  create("a");
  edit("a", [&](const store::lock_view&) {
    store::lock_change change;
    change.notices = {lease};
    return change;
  });
  EXPECT_GT(renew(lease).value().notice, before);
}

TEST_P(edit_test, bumps_the_notice_of_a_dead_lease_in_silence) {
  create("a");
  EXPECT_EQ(edit("a",
                 [&](const store::lock_view&) {
                   store::lock_change change;
                   change.notices = {lease_id::random()};
                   return change;
                 }),
            edit_result::committed);
}

TEST_P(edit_test, knows_when_the_server_is_another) {
  create("a");
  fixture().change_identity();
  EXPECT_FALSE(view("a").is_recorded_server);
  a->record_database_state();
  EXPECT_TRUE(view("a").is_recorded_server);
}

TEST_P(edit_test, skips_a_row_that_is_locked) {
  ROWLOCK_NEEDS(row_locks);
  create("a");
  int calls = 0;
  const auto rival = fixture().lock_row("a");
  EXPECT_EQ(edit("a", [&](const auto&) { return ++calls, store::lock_change{}; }), edit_result::skipped);
  EXPECT_EQ(calls, 0);
}

// Calls use() with each column that an edit writes, and with its default.
template <class LockRow, class Use>
void for_each_written(LockRow& row, Use use) {
  const model::lock_row defaults;
  store::with_written_columns(row, [&](auto&... columns) {
    store::with_written_columns(defaults, [&](const auto&... unset) { (use(columns, unset), ...); });
  });
}

// The test fails for a column that a store forgets to write or to read, and for a column that the test does not set.
TEST_P(edit_test, keeps_every_column_that_it_writes) {
  a->create(std::vector<model::lock_definition>{
      {"a", model::lock_kind::shared_mutex, model::shared_mutex_capacity}});
  const auto lease = new_lease();
  model::lock_row written;
  ASSERT_EQ(edit("a",
                 [&](const store::lock_view& now) {
                   auto change = grant_to(lease, hold_id::random())(now);
                   change.enqueue = {{change.row->next_ticket++, hold_id::random(), lease}};
                   change.row->has_queue = true;
                   change.row->head_ticket = change.enqueue[0].ticket;
                   // A new column needs no line here if it is a number.
                   for_each_written(*change.row, [number = 100](auto& column, const auto& unset) mutable {
                     using type = std::decay_t<decltype(column)>;
                     if constexpr (std::is_integral_v<type>) {
                       if (column == unset) column = static_cast<type>(++number);
                     }
                   });
                   written = *change.row;
                   return change;
                 }),
            edit_result::committed);
  for_each_written(written, [column = 0](const auto& is, const auto& unset) mutable {
    EXPECT_TRUE(is != unset) << "written column " << column << " has its default";
    ++column;
  });
  auto seen = view("a").row;
  ASSERT_TRUE(a->show("a"));
  auto shown = a->show("a")->row;
  // SQLite keeps no rows of waiters that have left, and no head.
  if (GetParam() == "sqlite") seen.head_ticket = shown.head_ticket = written.head_ticket;
  EXPECT_EQ(seen, written);
  EXPECT_EQ(shown, written);
}

TEST_P(edit_test, keeps_the_head_of_the_queue) {
  ROWLOCK_NEEDS(short_cuts);  // SQLite keeps no rows of waiters that have left, and no head
  held("a");
  const auto first = queued("a");
  queued("a");
  const auto behind = view("a").queue.at(1).waiter.ticket;
  edit("a", [&](const store::lock_view& now) {
    auto change = leave(first.hold)(now);
    change.row = now.row;
    change.row->head_ticket = behind;
    return change;
  });
  const auto seen = view("a");
  EXPECT_EQ(seen.row.head_ticket, behind);
  ASSERT_EQ(seen.queue.size(), 1U);
  EXPECT_EQ(seen.queue[0].waiter.ticket, behind);
}

TEST_P(edit_test, may_enqueue_at_a_guarded_lock_but_not_replace_its_grant) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  auto guard = fixture().guard("a", holder.hold);
  if (!fixture().can(capability::enqueue_beside_guard)) return skips_until_it_ends(guard);
  EXPECT_FALSE(view("a").replaceable);
  const auto waiter = queued("a");
  EXPECT_THAT(waiting("a"), ElementsAre(waiter.hold));
  EXPECT_EQ(edit("a", leave(waiter.hold)), edit_result::committed);
  EXPECT_THAT(waiting("a"), IsEmpty());
  guard.reset();
  EXPECT_TRUE(view("a").replaceable);
  EXPECT_EQ(find(holder).state, where::held);
}

TEST_P(edit_test, knows_a_guarded_lock_whose_holder_is_dead) {
  ROWLOCK_NEEDS(row_locks);
  const auto holder = held("a");
  auto guard = fixture().guard("a", holder.hold);
  kill(holder.lease);
  if (!fixture().can(capability::enqueue_beside_guard)) return skips_until_it_ends(guard);
  const auto now = view("a");
  EXPECT_FALSE(now.holder);
  EXPECT_FALSE(now.replaceable);
}

TEST_P(edit_test, of_a_batch_answers_each_request) {
  const auto holder = held("a");
  create("c");
  const auto lease = new_lease();
  const auto hold = hold_id::random();
  EXPECT_THAT(a->edit(std::vector<store::edit_request>{
                  {"a", {}, hand_over}, {"b", {}, nothing}, {"c", {}, grant_to(lease, hold)}}),
              ElementsAre(edit_result::committed, edit_result::missing, edit_result::committed));
  EXPECT_FALSE(view("a").row.hold);
  EXPECT_EQ(view("c").row.hold, hold);
  EXPECT_EQ(find(holder).state, where::absent);
}

// All or nothing: what is written to one lock may depend on what was read of all locks.
TEST_P(edit_test, together_decides_when_all_has_been_read) {
  create("a");
  create("b");
  const auto lease = new_lease();
  const auto grant_if_all_are_free = [&](std::span<const edit_result> results,
                                         std::span<const store::lock_view> views) {
    std::vector<store::lock_change> changes(results.size());
    const auto is_free = [](const auto& now) { return !now.row.lease; };
    if (std::ranges::count(results, edit_result::committed) != 3 || !std::ranges::all_of(views, is_free)) {
      return changes;
    }
    for (std::size_t i = 0; i < views.size(); ++i) {
      changes[i] = grant_to(lease, hold_id::random())(views[i]);
    }
    return changes;
  };
  const std::vector<store::edit_request> requests{{"a", {}, {}}, {"b", {}, {}}, {"c", {}, {}}};
  EXPECT_THAT(a->edit_together(requests, grant_if_all_are_free),
              ElementsAre(edit_result::committed, edit_result::committed, edit_result::missing));
  EXPECT_FALSE(view("a").row.lease) << "c is missing";
  {
    const auto holder = held("c");
    a->edit_together(requests, grant_if_all_are_free);
    EXPECT_FALSE(view("a").row.lease) << "c is not free";
    ASSERT_TRUE(release(holder));
  }
  EXPECT_THAT(a->edit_together(requests, grant_if_all_are_free),
              ElementsAre(edit_result::committed, edit_result::committed, edit_result::committed));
  for (const auto* name : {"a", "b", "c"}) EXPECT_EQ(view(name).row.lease, lease) << name;
}

TEST_P(edit_test, together_knows_which_rows_are_locked) {
  ROWLOCK_NEEDS(row_locks);
  create("a");
  create("b");
  const auto rival = fixture().lock_row("b");
  std::vector<edit_result> seen;
  a->edit_together(std::vector<store::edit_request>{{"a", {}, {}}, {"b", {}, {}}}, [&](auto results, auto) {
    seen.assign(results.begin(), results.end());
    return std::vector<store::lock_change>(results.size());
  });
  EXPECT_THAT(seen, ElementsAre(edit_result::committed, edit_result::skipped));
}

TEST_P(edit_test, of_a_batch_gives_each_its_own_view) {
  std::vector<std::string> names;
  std::vector<claim> holders;
  std::vector<claim> waiters;
  std::vector<store::edit_request> requests;
  std::vector<store::lock_view> views(20);
  for (int i = 10; i < 30; ++i) {
    const auto name = "lock-" + std::to_string(i);
    holders.push_back(held(name));
    waiters.push_back(queued(name));
    requests.push_back({name, waiters.back().hold, [&views, i](const store::lock_view& now) {
                          views[static_cast<std::size_t>(i - 10)] = now;
                          return hand_over(now);
                        }});
  }
  a->edit(requests);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(views[i].row.name, holders[i].name);
    EXPECT_EQ(views[i].row.hold, holders[i].hold);
    EXPECT_EQ(views[i].holder.value().id, holders[i].lease);
    EXPECT_EQ(views[i].queue.size(), 1U);
    EXPECT_EQ(views[i].own.value().hold, waiters[i].hold);
    EXPECT_EQ(find(waiters[i]).state, where::held);
  }
}

TEST_P(edit_test, of_a_batch_reads_all_before_it_writes) {
  const auto holder = held("a");
  const auto other = claim{"b", holder.lease};
  create("b");
  ASSERT_TRUE(acquire(other));
  bool lived = false;
  a->edit(std::vector<store::edit_request>{{"a",
                                            {},
                                            [&](const store::lock_view& now) {
                                              auto change = hand_over(now);
                                              change.end_leases = {holder.lease};
                                              return change;
                                            }},
                                           {"b", {}, [&](const store::lock_view& now) {
                                              lived = now.holder.has_value();
                                              return store::lock_change{};
                                            }}});
  EXPECT_TRUE(lived);
  EXPECT_FALSE(view("b").holder);
}

TEST_P(edit_test, of_a_batch_does_not_stall_behind_one_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  const auto one = queued("a");
  const auto two = queued("b");
  const auto three = queued("c");
  const auto rival = fixture().lock_row("b");
  EXPECT_THAT(a->edit(std::vector<store::edit_request>{
                  {"a", {}, hand_over}, {"b", {}, hand_over}, {"c", {}, hand_over}}),
              ElementsAre(edit_result::committed, edit_result::skipped, edit_result::committed));
  EXPECT_EQ(find(one).state, where::held);
  EXPECT_EQ(find(two).state, where::queued);
  EXPECT_EQ(find(three).state, where::held);
}

TEST_P(edit_test, of_a_batch_knows_which_of_them_is_guarded) {
  ROWLOCK_NEEDS(row_locks);
  const bool lets_in = fixture().can(capability::enqueue_beside_guard);
  held("a");
  const auto guarded = held("b");
  held("c");
  const auto guard = fixture().guard("b", guarded.hold);
  std::vector<bool> replaceable;
  const auto look = [&](const store::lock_view& now) {
    replaceable.push_back(now.replaceable);
    return store::lock_change{};
  };
  const auto results =
      a->edit(std::vector<store::edit_request>{{"a", {}, look}, {"b", {}, look}, {"c", {}, look}});
  EXPECT_EQ(replaceable, lets_in ? std::vector({true, false, true}) : std::vector({true, true}));
  EXPECT_EQ(results[1], lets_in ? edit_result::committed : edit_result::skipped);
}

TEST_P(edit_test, of_none_is_nothing) {
  EXPECT_THAT(a->edit({}), IsEmpty());
}

ROWLOCK_FOR_EACH_STORE(edit_test);

}  // namespace
}  // namespace rowlock::test
