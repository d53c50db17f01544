#include "client/worker/edit_round.hpp"

#include "client/parts_test.hpp"

#include <array>

namespace rowlock::test {
namespace {

using client_layer::decision;
using client_layer::edit_item;
using client_layer::edit_reply;
using client_layer::edit_round;
using client_layer::edit_state;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using what = client_layer::outcome::what;

class edit_round_test : public parts_test {
 protected:
  edit_round_test() {
    begin();
    slot.open();
    side->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
    server->on_call([this](store::memory_call& call) {
      if (call.at != store::memory_call::phase::before) return;
      happened.emplace_back(call.verb);
      if (call.verb == denied) throw error(errc::privilege, "denied");
    });
  }

  static decision deciding(what result) {
    decision made;
    made.outcome.result = result;
    return made;
  }
  // A durable change.
  static decision raising(const store::lock_view& view, what result = what::granted) {
    auto made = deciding(result);
    made.change.row = view.row;
    ++made.change.row->token;
    made.change.durable = true;
    return made;
  }
  static decision granting(const store::lock_view& view, const rival& waiter) {
    auto made = raising(view);
    made.outcome.next.push_back({{1, waiter.hold, waiter.lease}, waiter.lease, 8});
    return made;
  }

  // Edits about these items, and returns what became of each. `happened` then says what was sent and reported.
  std::vector<edit_reply> edit(const std::vector<edit_item>& items, const edit_round::each& decide) {
    edit_round round{services(), items.size()};
    for (const auto& item : items) round.add(item);
    happened.clear();
    slot.call([&](store::lock_verbs& session) { round.decide_each(session, decide); });
    round.follow_up([this](const auto& work) { slot.call(work); },
                    [&](std::size_t i, edit_reply&) { happened.push_back("report " + items[i].name); });
    return round.take_replies();
  }
  edit_reply edit(const edit_item& item, const std::function<decision(const store::lock_view&)>& decide) {
    return edit(std::vector{item}, [&](auto, const auto& view, auto) { return decide(view); }).front();
  }
  edit_reply edit(const edit_item& item, what result) {
    return edit(item, [result](const auto&) { return deciding(result); });
  }
  // The same in one session, as tasks and groups do.
  std::vector<edit_reply> edit_together(const std::vector<edit_item>& items,
                                        const edit_round::together& decide) {
    edit_round round{services(), items.size()};
    for (const auto& item : items) round.add(item);
    slot.call([&](store::session& session) {
      round.decide_together(session, decide);
      round.follow_up(session);
    });
    return round.take_replies();
  }

  model::lease_id own() { return engine->services().queue.lease()->id(); }

  const std::string a = "a";
  const std::string b = "b";
  const std::string none = "none";
  std::vector<std::string> happened;
  std::string denied;  // this verb
};

TEST_F(edit_round_test, a_decision_is_reported_unless_it_must_be_made_again) {
  for (const auto result : {what::granted, what::queued, what::busy, what::released, what::absent,
                            what::mismatch, what::broken, what::overrun, what::in_doubt}) {
    const auto reply = edit({a}, result);
    EXPECT_EQ(reply.state, edit_state::settled);
    EXPECT_EQ(reply.made.outcome.result, result);
    EXPECT_THAT(happened, ElementsAre("edit", "report a"));
  }
  EXPECT_EQ(edit({a}, what::decide_again).state, edit_state::again);
  EXPECT_EQ(edit({a}, what::guarded).state, edit_state::locked);
}

// An earlier commit is made durable after that of the edit, so the failure comes when something has been done.
TEST_F(edit_round_test, that_cannot_make_an_earlier_commit_durable_is_in_doubt_if_it_has_written) {
  server->show_commits_early();
  denied = "make_durable";
  for (const bool writes : {false, true}) {
    try {
      edit({{.name = a, .own = own()}, {.name = b, .own = own()}},
           [&](std::size_t i, const auto& view, auto) {
             return i == 1 && writes ? raising(view) : deciding(what::released);
           });
      ADD_FAILURE() << "it was denied";
    } catch (const error& failure) {
      EXPECT_EQ(failure.kind(), errc::privilege);
      EXPECT_EQ(failure.outcome_unknown(), writes);
    }
  }
}

TEST_F(edit_round_test, a_row_that_is_locked_is_not_decided) {
  server->lock_row(a);
  const auto reply = edit({a}, [](const auto&) -> decision {
    ADD_FAILURE();
    return {};
  });
  EXPECT_EQ(reply.state, edit_state::locked);
  EXPECT_THAT(happened, ElementsAre("edit", "report a"));
}

TEST_F(edit_round_test, a_lock_that_is_missing_is_created_for_an_acquire_alone) {
  EXPECT_EQ(edit({none}, what::granted).state, edit_state::missing);
  EXPECT_THAT(happened, ElementsAre("edit", "report none"));
  const model::lock_definition wanted{none, model::lock_kind::semaphore, 3};
  EXPECT_EQ(edit({.name = none, .acquired = &wanted}, what::granted).state, edit_state::again);
  EXPECT_THAT(happened, ElementsAre("edit", "report none", "create"));
  EXPECT_EQ(server->snapshot().locks.at(none).row.capacity, 3);
}

TEST_F(edit_round_test, each_missing_name_is_created_once) {
  const model::lock_definition wanted{none, model::lock_kind::election};
  edit({{.name = none, .acquired = &wanted}, {.name = none, .acquired = &wanted}},
       [](auto...) { return decision{}; });
  EXPECT_THAT(happened, ElementsAre("edit", "report none", "report none", "create"));
}

TEST_F(edit_round_test, what_is_in_the_way_is_killed_before_the_next_edit) {
  const auto dead = held_by_rival(a);
  server->expire(dead.lease);
  const auto sweeping = [](const auto& view) { return client_layer::decide_sweep(view, 0us); };
  EXPECT_EQ(edit({a}, sweeping).state, edit_state::again);
  EXPECT_THAT(happened, ElementsAre("edit", "report a", "kill"));
  EXPECT_EQ(edit({a}, sweeping).state, edit_state::settled);
  EXPECT_TRUE(holder_of(a).is_nil());
}

TEST_F(edit_round_test, only_what_has_expired_by_more_than_the_skew_is_killed) {
  environment().stored_skew_ms = 2000;
  const auto recently = rival_with_lease();
  const auto long_ago = rival_with_lease();
  server->expire(recently.lease, 1s);
  server->expire(long_ago.lease, 3s);
  edit({a}, [&](const auto&) {
    auto made = deciding(what::expired);
    made.outcome.leases = {recently.lease, long_ago.lease};
    return made;
  });
  const auto leases = server->snapshot().leases;
  EXPECT_TRUE(leases.contains(recently.lease));
  EXPECT_FALSE(leases.contains(long_ago.lease));
}

TEST_F(edit_round_test, decides_nothing_while_a_permit_that_was_not_read_may_be_a_dead_holders) {
  const auto other = rival_with_lease();
  side->create(std::vector<model::lock_definition>{{none, model::lock_kind::semaphore, 1}});
  const std::vector<store::acquire_item> permit{
      {none, model::lock_kind::semaphore, 1, other.lease, other.hold, true, model::lock_mode::shared, 1}};
  ASSERT_EQ(side->acquire(permit).size(), 1U);
  server->expire(other.lease);
  const edit_item wants{.name = none, .about = model::hold_id::random(), .trusts_in_use = true, .wanted = 1};
  int decided = 0;
  const auto deciding_busy = [&](auto...) {
    ++decided;
    return deciding(what::busy);
  };
  for (const auto& reply : edit({wants, wants}, deciding_busy)) EXPECT_EQ(reply.state, edit_state::again);
  EXPECT_EQ(decided, 0);
  EXPECT_THAT(happened, ElementsAre("edit", "report none", "report none"));
  auto reads_all = wants;
  reads_all.trusts_in_use = false;
  for (const auto& reply : edit({wants, reads_all}, deciding_busy))
    EXPECT_EQ(reply.state, edit_state::settled);
  EXPECT_EQ(decided, 2) << "the edit read the permit";
}

TEST_F(edit_round_test, another_server_is_recorded_before_the_next_edit) {
  server->change_identity("memory/2");
  EXPECT_EQ(edit({a}, what::unrecorded_server).state, edit_state::again);
  EXPECT_THAT(happened, ElementsAre("edit", "report a", "record_database_state"));
}

// Somebody waits for the wake-ups; and no kill may come before the leases are lengthened for another server's
// clock (I5).
TEST_F(edit_round_test, clients_are_woken_first_and_the_server_is_recorded_before_a_kill) {
  const auto dead = rival_with_lease();
  server->expire(dead.lease);
  const auto waiter = rival_with_lease();
  const model::lock_definition wanted{none};
  edit({{a}, {.name = none, .acquired = &wanted}}, [&](auto, const auto& view, auto) {
    auto made = granting(view, waiter);
    made.outcome.result = what::unrecorded_server;
    made.outcome.leases = {dead.lease, dead.lease};
    return made;
  });
  EXPECT_THAT(happened, ElementsAre("edit", "report a", "report none", "send_wakeups",
                                    "record_database_state", "kill", "create"));
}

TEST_F(edit_round_test, a_waiter_of_this_client_has_its_hold_before_the_report) {
  const auto asked = asks(a);
  asked->lease = engine->services().queue.lease();
  services().complete.queued(asked, 10s, services().agenda.wakeups());
  edit({a}, [&](const auto& view) {
    auto made = granting(view, {own(), asked->hold});
    made.change.row->has_queue = true;
    return made;
  });
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), 8);
  EXPECT_TRUE(hold->is_contended());
  EXPECT_THAT(happened, ElementsAre("edit", "report a"));
}

TEST_F(edit_round_test, the_client_of_another_waiter_is_woken_and_told_which_waiter_it_is) {
  const auto other = rival_with_lease();
  side->listen(other.lease);
  edit({{a}, {b}},
       [&](std::size_t i, const auto& view, auto) { return i == 0 ? granting(view, other) : raising(view); });
  EXPECT_THAT(happened, ElementsAre("edit", "report a", "report b", "send_wakeups"));
  EXPECT_TRUE(side->wait(0s));
  EXPECT_THAT(side->woken_waiters(), ElementsAre(other.hold));
}

TEST_F(edit_round_test, each_client_is_woken_once_for_the_same_reason) {
  const auto other = rival_with_lease();
  side->listen(other.lease);
  edit({{a}, {b}}, [&](auto, const auto& view, auto) {
    auto made = raising(view);
    made.outcome.wake = {other.lease};
    made.change.notices = {other.lease};
    return made;
  });
  EXPECT_EQ(std::ranges::count(happened, "send_wakeups"), 1);
  EXPECT_TRUE(side->wait(0s));
  EXPECT_THAT(side->woken_waiters(), IsEmpty()) << "it may be anything";
}

TEST_F(edit_round_test, this_clients_own_waiters_are_looked_at_without_a_wake_up) {
  const auto before = services().agenda.wakeups();
  edit({a}, [&](const auto&) {
    auto made = deciding(what::released);
    made.outcome.wake = {own()};
    return made;
  });
  EXPECT_EQ(services().agenda.wakeups(), before + 1);
  EXPECT_THAT(happened, ElementsAre("edit", "report a"));
}

// Any holder may say something of its hold; only that of a leader matters to watchers.
TEST_F(edit_round_test, watchers_are_woken_by_a_change_of_an_office_alone) {
  side->create(std::vector<model::lock_definition>{{none, model::lock_kind::election}});
  side->listen(client_layer::office_watchers());
  const auto wakes = [&](const std::string& name, const auto& decide) {
    edit({name}, decide);
    return side->wait(0s);
  };
  const auto says = [](model::lock_kind kind) {
    return [kind](const auto&) {
      auto made = deciding(what::granted);
      made.change.value = "7 x";
      made.outcome.stored.kind = kind;
      return made;
    };
  };
  EXPECT_TRUE(wakes(none, [](const auto& view) { return raising(view); }));
  EXPECT_FALSE(wakes(a, [](const auto& view) { return raising(view); }));
  EXPECT_TRUE(wakes(none, says(model::lock_kind::election)));
  EXPECT_FALSE(wakes(a, says(model::lock_kind::mutex)));
  const auto queueing = [](const store::lock_view& view, const rival& candidate) {
    auto made = raising(view, what::queued);
    made.change.enqueue.push_back({made.change.row->next_ticket++, candidate.hold, candidate.lease});
    made.change.row->has_queue = true;
    return made;
  };
  const std::array candidates{rival_with_lease(), rival_with_lease(), rival_with_lease()};
  EXPECT_FALSE(wakes(none, [&](const auto& view) { return queueing(view, candidates[0]); }))
      << "it only waits";
  EXPECT_TRUE(wakes(none, [&](const auto& view) {
    auto made = queueing(view, candidates[1]);
    made.change.granted_now = true;
    made.change.row->lease = candidates[0].lease;
    made.change.row->hold = candidates[0].hold;
    made.change.row->in_use = 1;
    made.change.dequeue.push_back(candidates[0].hold);
    return made;
  })) << "it waits behind another, who leads from now on";
  EXPECT_TRUE(wakes(none, [&](const auto& view) {
    auto made = queueing(view, candidates[2]);
    store::lease_record rest;
    rest.id = rest.client = model::lease_id::random();
    rest.ttl = 1h;
    made.change.create_leases.push_back(rest);
    return made;
  })) << "it waits for the end of a rest, during which nobody leads";
}

TEST_F(edit_round_test, waiters_beyond_the_part_that_was_read_are_left_to_a_sweep) {
  edit({a}, [](const auto&) {
    auto made = deciding(what::released);
    made.outcome.more = true;
    return made;
  });
  const auto sweeps = submitted().releases;
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps.front()->name, "a");
  EXPECT_EQ(sweeps.front()->purpose, client_layer::release_operation::aim::sweep);
}

TEST_F(edit_round_test, what_an_earlier_commit_did_is_durable_before_it_is_reported) {
  server->show_commits_early();
  const model::lock_definition wanted{a};
  const edit_item acquire{.name = a, .own = own(), .acquired = &wanted};
  const auto reads = ElementsAre("edit", "make_durable", "report a");
  const auto writes = ElementsAre("edit", "report a");
  const auto beside = [](const auto& view) {
    auto made = raising(view);
    made.change.durable = false;
    return made;
  };
  edit(acquire, what::granted);
  EXPECT_THAT(happened, reads);
  edit(acquire, beside);
  EXPECT_THAT(happened, reads) << "the grant itself was only read";
  edit(acquire, [](const auto& view) { return raising(view); });
  EXPECT_THAT(happened, writes);
  edit(acquire, what::busy);
  EXPECT_THAT(happened, writes);
  const edit_item task{.name = a, .own = own()};
  for (const auto result : {what::granted, what::released}) {
    edit(task, result);
    EXPECT_THAT(happened, reads);
  }
  edit(task, beside);
  EXPECT_THAT(happened, writes);
  edit({.name = a}, what::released);
  EXPECT_THAT(happened, writes) << "nobody relies on it";
}

TEST_F(edit_round_test, items_of_one_name_are_decided_one_after_the_other) {
  const auto before = server->snapshot().locks.at(a).row.token;
  std::vector<model::token> seen;
  std::vector<bool> joined;
  edit({{a}, {a}, {b}}, [&](auto, const auto& view, const auto& others) {
    seen.push_back(view.row.token - before);
    joined.push_back(others.exist);
    return raising(view);
  });
  seen.pop_back();
  EXPECT_THAT(seen, ElementsAre(0, 1));
  EXPECT_THAT(joined, ElementsAre(true, true, false));
  EXPECT_EQ(server->snapshot().locks.at(a).row.token, before + 2);
}

TEST_F(edit_round_test, what_waits_leaves_before_what_holds) {
  const auto holder = held_by_rival(a);
  const auto waits = model::hold_id::random();
  std::vector<std::size_t> order;
  edit({{.name = a, .about = holder.hold, .may_be_queued = true},
        {.name = a},
        {.name = a, .about = waits, .may_be_queued = true}},
       [&](std::size_t i, const auto&, auto) {
         order.push_back(i);
         return deciding(what::absent);
       });
  EXPECT_THAT(order, ElementsAre(2, 0, 1));
}

TEST_F(edit_round_test, requests_that_wait_leave_together) {
  const auto holder = held_by_rival(a);
  const std::vector waits{model::hold_id::random(), model::hold_id::random()};
  std::vector<std::vector<model::hold_id>> told;
  std::vector<bool> left;
  edit({{.name = a, .about = holder.hold},
        {.name = a, .about = waits[0], .may_be_queued = true},
        {.name = a, .about = waits[1], .may_be_queued = true}},
       [&](std::size_t i, const auto& view, const auto& others) {
         told.emplace_back(others.leaving.begin(), others.leaving.end());
         left.push_back(others.has_left);
         auto made = deciding(what::released);
         if (i == 1) {
           made.change.row = view.row;
           made.change.dequeue = waits;
         }
         return made;
       });
  EXPECT_THAT(told, testing::Each(waits));
  EXPECT_THAT(left, ElementsAre(false, true, false))
      << "the second left with the first, and the holder is decided last";
}

TEST_F(edit_round_test, every_change_of_a_recorded_name_has_a_history) {
  environment().recorded.use(1, {{"*", 100, std::chrono::hours{24}}});
  const auto hold = held_by_rival(a);
  const auto other = held_by_rival(b);
  edit({.name = a, .about = hold.hold, .why = client_layer::intent::force},
       [&](const auto& view) { return client_layer::decide_force(view, {}, 0us); });
  edit_together({{b}}, [&](auto, auto views) {
    return std::vector{client_layer::decide_release(views[0], {other.hold}, 0us)};
  });
  std::vector<store::history_event> events;
  const auto histories = server->snapshot().history;
  for (const auto& [name, lines] : histories) {
    for (const auto& [id, stored] : lines) events.push_back(stored.line.entry.event);
  }
  EXPECT_THAT(events, UnorderedElementsAre(store::history_event::forced, store::history_event::released));
}

TEST_F(edit_round_test, together_all_may_change_or_none) {
  server->lock_row(b);
  const auto before = server->snapshot().locks.at(a).row.token;
  const auto replies = edit_together({{a}, {b}}, [](auto results, auto views) {
    std::vector<decision> made(2);
    made[0] = results[1] == store::edit_result::committed ? raising(views[0]) : deciding(what::absent);
    return made;
  });
  EXPECT_EQ(replies[0].state, edit_state::settled);
  EXPECT_EQ(replies[1].state, edit_state::locked);
  EXPECT_EQ(server->snapshot().locks.at(a).row.token, before);
}

// The caller of a task must not assume that it was not done.
TEST_F(edit_round_test, an_error_after_a_settled_change_leaves_its_outcome_unknown) {
  const auto in_doubt = [&](what result) {
    denied = "kill";
    try {
      edit_together({{a}}, [&](auto, auto views) {
        auto made = result == what::expired ? deciding(result) : raising(views[0], result);
        made.outcome.leases = {model::lease_id::random()};
        return std::vector{std::move(made)};
      });
    } catch (const error& failure) {
      EXPECT_EQ(failure.code(), errc::privilege);
      return failure.outcome_unknown();
    }
    ADD_FAILURE();
    return false;
  };
  EXPECT_TRUE(in_doubt(what::granted));
  EXPECT_FALSE(in_doubt(what::expired)) << "nothing was done yet";
}

}  // namespace
}  // namespace rowlock::test
