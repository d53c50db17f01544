#include "client/worker/slow_path.hpp"

#include "client/parts_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class slow_path_test : public parts_test {
 protected:
  slow_path_test() { begin(); }

  // Prepares the request as the fast path leaves it.
  client_layer::acquire_ptr prepared(client_layer::acquire_ptr operation) {
    operation->lease = engine->services().queue.lease();
    operation->progress.needs_edit();
    return operation;
  }
  client_layer::acquire_ptr wish(const std::string& name, bool waits = true) {
    return prepared(asks(name, waits));
  }
  client_layer::hold_ptr held(const std::string& name) {
    const auto asked = wish(name);
    decide(asked);
    return hold_of(asked);
  }
  template <class... Operation>
  void decide(const Operation&... operations) {
    (slow.add(operations), ...);
    slow.decide_all();
  }
  client_layer::acquire_ptr wish_for(const std::string& name, std::chrono::milliseconds ttl,
                                     bool waits = true) {
    auto asked = wish(name, waits);
    asked->ttl = ttl;
    return asked;
  }
  // Takes back the request of an edit that failed, as a worker does: it is in doubt.
  void give_back(const client_layer::acquire_ptr& asked) {
    client_layer::batch left;
    slow.take_back(left);
    EXPECT_THAT(left.acquires, ElementsAre(asked));
    asked->progress.failed(false);
    EXPECT_TRUE(asked->progress.is_in_doubt());
  }
  void lose_the_answer_to(const client_layer::acquire_ptr& asked) {
    faults->lose_answer("edit");
    slow.add(asked);
    EXPECT_EQ(code_of([&] { slow.decide_all(); }), errc::unreachable);
    give_back(asked);
  }
  // A rival holds so many permits of the semaphore "s".
  rival permits_of_rival(int count, std::int64_t capacity) {
    const rival other = rival_with_lease();
    side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, capacity}});
    for (int i = 0; i < count; ++i) {
      const std::vector<store::acquire_item> wanted{{"s", model::lock_kind::semaphore, capacity, other.lease,
                                                     model::hold_id::random(), true, model::lock_mode::shared,
                                                     1}};
      EXPECT_EQ(side->acquire(wanted).size(), 1U);
    }
    return other;
  }
  int edits() const { return faults->count("edit"); }

  client_layer::slow_path slow{services(), slot};
};

TEST_F(slow_path_test, creates_a_lock_that_is_missing_and_grants_it) {
  const auto asked = wish("a");
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->id(), holder_of("a"));
  EXPECT_EQ(faults->count("create"), 1);
  EXPECT_EQ(edits(), 2);
}

TEST_F(slow_path_test, decides_about_all_names_in_one_edit) {
  for (const auto* name : {"a", "b"}) side->create(std::vector<model::lock_definition>{{name}});
  const auto free = wish("b");
  const auto attempt = wish("a", false);
  held_by_rival("a");
  decide(free, attempt);
  EXPECT_EQ(edits(), 1);
  EXPECT_TRUE(hold_of(free));
  EXPECT_TRUE(attempt->answer.is_complete());
  EXPECT_FALSE(hold_of(attempt));
}

TEST_F(slow_path_test, decides_requests_for_one_name_in_the_order_in_which_they_came) {
  side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 2}});
  std::vector<client_layer::acquire_ptr> all;
  for (int i = 0; i < 3; ++i) all.push_back(prepared(asks_to_share("s", 2)));
  decide(all[0], all[1], all[2]);
  EXPECT_EQ(edits(), 1);
  const auto first = hold_of(all[0]);
  const auto second = hold_of(all[1]);
  ASSERT_TRUE(first && second);
  EXPECT_LT(first->token(), second->token());
  EXPECT_FALSE(all[2]->answer.is_complete());
  EXPECT_THAT(queue_of("s"), ElementsAre(all[2]->hold));
  EXPECT_EQ(engine->waiters().take(all[2]->hold), all[2]);
}

TEST_F(slow_path_test, requests_for_permits_read_those_of_nobody_else) {
  permits_of_rival(96, 100);
  const auto first = prepared(asks_to_share("s", 100));
  const auto second = prepared(asks_to_share("s", 100));
  decide(first, second);
  const auto one = hold_of(first);
  const auto other = hold_of(second);
  ASSERT_TRUE(one && other);
  const auto large = prepared(asks_to_share("s", 100));
  large->weight = 3;
  const auto behind = prepared(asks_to_share("s", 100));
  decide(large, behind);
  EXPECT_THAT(queue_of("s"), ElementsAre(large->hold, behind->hold));
  EXPECT_EQ(server->permits_read(), 0U);
  EXPECT_EQ(edits(), 2);
  EXPECT_EQ(engine->waiters().next_takeover(), time.now() + 30s) << "the rival's lease may be killed";
  const auto left = leaves(one);
  const auto last = leaves(other);
  decide(left, last);
  EXPECT_EQ(result_of(left), release_result::released);
  EXPECT_EQ(result_of(last), release_result::released);
  EXPECT_EQ(server->permits_read(), 2U) << "only those that are released";
  EXPECT_EQ(edits(), 3);
  EXPECT_THAT(queue_of("s"), IsEmpty());
  EXPECT_EQ(server->snapshot().permits.at("s").size(), 98U);
}

TEST_F(slow_path_test, requests_that_find_no_room_free_the_permits_of_the_dead) {
  const auto rival = permits_of_rival(5, 5);
  const auto first = prepared(asks_to_share("s"));
  const auto second = prepared(asks_to_share("s"));
  side->end(std::vector{rival.lease});
  decide(first, second);
  EXPECT_TRUE(hold_of(first) && hold_of(second));
  EXPECT_EQ(edits(), 2);
  EXPECT_EQ(server->snapshot().locks.at("s").row.in_use, 2);
}

TEST_F(slow_path_test, a_request_that_finds_no_room_has_an_expired_holder_of_a_permit_killed) {
  const auto rival = permits_of_rival(5, 5);
  server->expire(rival.lease);
  const auto asked = prepared(asks_to_share("s"));
  decide(asked);
  EXPECT_TRUE(hold_of(asked));
  EXPECT_FALSE(server->snapshot().leases.contains(rival.lease));
}

TEST_F(slow_path_test, a_request_for_all_that_is_free_takes_what_the_dead_had) {
  const auto rival = permits_of_rival(2, 5);
  side->end(std::vector{rival.lease});
  const auto asked = prepared(asks_to_share("s"));
  asked->everything = true;
  decide(asked);
  ASSERT_TRUE(hold_of(asked));
  EXPECT_EQ(asked->weight, 5);
}

TEST_F(slow_path_test, has_an_expired_holder_killed_and_then_grants) {
  const auto dead = held_by_rival("a");
  const auto token = server->snapshot().locks.at("a").row.token;
  server->expire(dead.lease);
  const auto asked = wish("a");
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), token + 1);
  EXPECT_FALSE(server->snapshot().leases.contains(dead.lease));
}

TEST_F(slow_path_test, records_another_server_before_it_grants) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto epoch = server->snapshot().epoch;
  server->change_identity("memory/2");
  const auto asked = wish("a");
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_GT(server->snapshot().epoch, epoch);
  EXPECT_GE(hold->token(), model::epoch_floor(server->snapshot().epoch));
}

TEST_F(slow_path_test, a_lock_that_is_stored_as_another_one_fails_the_request_alone) {
  side->create(std::vector<model::lock_definition>{{"a", model::lock_kind::election}, {"b"}});
  const auto wrong = wish("a");
  const auto right = wish("b");
  decide(wrong, right);
  EXPECT_EQ(failure_of(wrong), errc::mismatch);
  EXPECT_TRUE(hold_of(right));
}

TEST_F(slow_path_test, a_request_whose_answer_was_lost_finds_what_it_was_granted) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto asked = wish("a");
  lose_the_answer_to(asked);
  const auto token = server->snapshot().locks.at("a").row.token;
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), token) << "it was granted once";
}

TEST_F(slow_path_test, gives_back_what_it_had_no_answer_for) {
  const auto asked = wish("a");
  const auto release = client_layer::sweep_of("b");
  faults->refuse("edit");
  slow.add(asked);
  slow.add(release);
  EXPECT_EQ(code_of([&] { slow.decide_all(); }), errc::contention);
  client_layer::batch left;
  slow.take_back(left);
  EXPECT_THAT(left.acquires, ElementsAre(asked));
  EXPECT_THAT(left.releases, ElementsAre(release));
  client_layer::batch nothing;
  slow.take_back(nothing);
  EXPECT_TRUE(nothing.empty());
}

TEST_F(slow_path_test, an_explicit_ttl_is_granted_on_a_lease_of_its_own_in_one_edit) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto asked = wish_for("a", 5s);
  const auto own = engine->services().queue.lease();
  decide(asked);
  EXPECT_EQ(edits(), 1);
  EXPECT_FALSE(asked->moving_to);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_NE(hold->lease(), own);
  EXPECT_FALSE(hold->lease()->is_renewed());
  EXPECT_EQ(hold->lease()->client(), own->id()) << "its notices go to the process";
  const auto tables = server->snapshot();
  EXPECT_EQ(tables.locks.at("a").row.lease, hold->lease()->id());
  EXPECT_EQ(tables.locks.at("a").row.token, hold->token());
  EXPECT_EQ(tables.leases.at(hold->lease()->id()).record.ttl, 5s);
  EXPECT_LE(hold->lease()->deadline(), time.now() + 5s);
}

TEST_F(slow_path_test, an_explicit_ttl_is_granted_although_the_lease_of_its_client_has_just_ended) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto asked = wish_for("a", 5s);
  asked->lease->end();
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_TRUE(hold->is_valid());
  EXPECT_EQ(server->snapshot().locks.at("a").row.lease, hold->lease()->id());
}

TEST_F(slow_path_test, several_explicit_ttls_of_one_semaphore_share_an_edit) {
  side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  std::vector<client_layer::acquire_ptr> all;
  for (int i = 0; i < 3; ++i) all.push_back(prepared(asks_to_share("s")));
  all[0]->ttl = 5s;
  all[2]->ttl = 7s;
  decide(all[0], all[1], all[2]);
  EXPECT_EQ(edits(), 1);
  const auto tables = server->snapshot();
  EXPECT_EQ(tables.leases.size(), 3U);
  for (const auto& one : all) {
    const auto hold = hold_of(one);
    ASSERT_TRUE(hold);
    EXPECT_EQ(hold->lease()->is_renewed(), !one->ttl);
    EXPECT_EQ(tables.permits.at("s").at(hold->id()).permit.lease, hold->lease()->id());
    EXPECT_EQ(tables.leases.at(hold->lease()->id()).record.ttl, one->ttl.value_or(30s));
  }
}

TEST_F(slow_path_test, an_explicit_ttl_that_is_not_granted_has_no_lease_of_its_own) {
  held_by_rival("a");
  const auto waits = wish_for("a", 5s);
  decide(waits);
  EXPECT_THAT(queue_of("a"), ElementsAre(waits->hold));
  const auto attempt = wish_for("a", 5s, false);
  decide(attempt);
  EXPECT_TRUE(attempt->answer.is_complete());
  server->lock_row("a");
  const auto delayed = wish_for("a", 5s);
  decide(delayed);
  for (const auto& one : {waits, attempt, delayed}) EXPECT_FALSE(one->moving_to);
  EXPECT_EQ(server->snapshot().leases.size(), 2U) << "the client's and the rival's";
}

TEST_F(slow_path_test, an_explicit_ttl_that_was_handed_over_moves_in_one_edit) {
  const auto rival = held_by_rival("a");
  const auto asked = wish_for("a", 5s);
  decide(asked);
  const auto waiting = engine->waiters().take(asked->hold);
  ASSERT_EQ(waiting, asked);
  ASSERT_TRUE(side->hand_over({"a", rival.lease, rival.hold}, 0us));
  decide(asked);
  EXPECT_EQ(edits(), 2);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(server->snapshot().locks.at("a").row.lease, hold->lease()->id());
  EXPECT_EQ(hold->lease()->ttl(), 5s);
}

// The edit that grants may have been executed, so the lease of that try is remembered until an answer settles the
// request.
TEST_F(slow_path_test, an_explicit_ttl_whose_answer_was_lost_moves_on_with_its_token) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto asked = wish_for("a", 5s);
  lose_the_answer_to(asked);
  const auto first = asked->moving_to;
  ASSERT_TRUE(first);
  auto row = server->snapshot().locks.at("a").row;
  EXPECT_EQ(row.lease, first->id());
  server->lock_row("a");
  decide(asked);
  EXPECT_TRUE(asked->moving_to) << "that its row is locked says nothing of the earlier try";
  server->unlock_row("a");
  advance(2s);
  decide(asked);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), row.token) << "it was granted once";
  EXPECT_EQ(hold->lease()->deadline(), time.now() + 5s - environment().margin(5s));
  const auto tables = server->snapshot();
  EXPECT_EQ(tables.locks.at("a").row.lease, hold->lease()->id());
  EXPECT_FALSE(tables.leases.contains(first->id())) << "the lease of the earlier try has ended";
  EXPECT_EQ(tables.leases.size(), 2U) << "the client's and the hold's";
}

TEST_F(slow_path_test, an_explicit_ttl_whose_answer_was_lost_is_withdrawn_from_its_lease) {
  side->create(std::vector<model::lock_definition>{{"a"}});
  const auto asked = wish_for("a", 5s);
  lose_the_answer_to(asked);
  const auto withdrawal = client_layer::take_withdrawal_of(*asked);
  EXPECT_TRUE(withdrawal->lease->is_valid(time.now())) << "it is retried for as long";
  decide(withdrawal);
  EXPECT_TRUE(holder_of("a").is_nil());
  EXPECT_EQ(server->snapshot().leases.size(), 1U);
}

TEST_F(slow_path_test, an_explicit_ttl_that_is_not_found_after_a_lost_answer_forgets_its_lease) {
  held_by_rival("a");
  const auto asked = wish_for("a", 5s, false);
  faults->lose_request("edit");
  slow.add(asked);
  EXPECT_EQ(code_of([&] { slow.decide_all(); }), errc::unreachable);
  give_back(asked);
  EXPECT_TRUE(asked->moving_to);
  decide(asked);
  EXPECT_FALSE(asked->moving_to);
  EXPECT_TRUE(asked->answer.is_complete());
}

TEST_F(slow_path_test, a_row_that_is_locked_delays_the_request_until_it_comes_free) {
  const auto asked = wish("a");
  side->create(std::vector<model::lock_definition>{{"a"}});
  server->lock_row("a");
  decide(asked);
  EXPECT_EQ(edits(), 1);
  EXPECT_FALSE(asked->answer.is_complete());
  EXPECT_TRUE(asked->retry.locked_since());
  EXPECT_THAT(submitted().acquires, IsEmpty());
  time.advance(50ms);
  EXPECT_THAT(submitted().acquires, ElementsAre(asked));
  server->unlock_row("a");
  decide(asked);
  EXPECT_TRUE(hold_of(asked));
}

TEST_F(slow_path_test, an_attempt_that_would_not_wait_learns_of_a_row_that_stays_locked) {
  const auto attempt = wish("a", false);
  side->create(std::vector<model::lock_definition>{{"a"}});
  server->lock_row("a");
  decide(attempt);
  EXPECT_FALSE(attempt->answer.is_complete());
  time.advance(801ms);
  decide(attempt);
  EXPECT_EQ(failure_of(attempt), errc::contention);
  EXPECT_THAT(submitted().releases, IsEmpty()) << "the database knows nothing of it";
}

TEST_F(slow_path_test, a_release_is_tried_again_at_once_and_then_with_pauses) {
  const auto release = leaves(held("a"));
  release->fast = true;
  server->lock_row("a");
  const auto before = edits();
  decide(release);
  EXPECT_EQ(edits(), before + 7);
  EXPECT_FALSE(release->answer->is_complete());
  EXPECT_FALSE(release->fast);
  for (int i = 0; i < 40; ++i) {
    time.advance(5ms);
    EXPECT_THAT(submitted().releases, ElementsAre(release)) << i;
    decide(release);
    EXPECT_FALSE(release->answer->is_complete());
  }
  time.advance(51ms);
  EXPECT_THAT(submitted().releases, ElementsAre(release));
  decide(release);
  EXPECT_EQ(result_of(release), release_result::pending) << "its caller does not wait for the row any longer";
  time.advance(20ms);
  EXPECT_THAT(submitted().releases, IsEmpty()) << "nobody waits for it";
  time.advance(30ms);
  EXPECT_THAT(submitted().releases, ElementsAre(release));
  server->unlock_row("a");
  decide(release);
  EXPECT_TRUE(holder_of("a").is_nil());
}

TEST_F(slow_path_test, a_release_hands_over_and_wakes_the_client_of_the_waiter) {
  const auto release = leaves(held("a"));
  const auto waiter = queued_rival("a");
  side->listen(waiter.lease);
  decide(release);
  EXPECT_EQ(result_of(release), release_result::released);
  EXPECT_EQ(holder_of("a"), waiter.hold);
  EXPECT_TRUE(side->wait(0s));
  EXPECT_THAT(side->woken_waiters(), ElementsAre(waiter.hold));
  EXPECT_EQ(environment().count.hand_overs, 1U);
}

TEST_F(slow_path_test, a_release_of_what_does_not_stand_is_lost_unless_an_answer_was) {
  const auto hold = held("a");
  const auto release = leaves(hold);
  decide(release);
  EXPECT_EQ(result_of(release), release_result::released);
  const auto again = leaves(hold);
  decide(again);
  EXPECT_EQ(result_of(again), release_result::lost);
  const auto doubtful = leaves(hold);
  doubtful->in_doubt = true;
  decide(doubtful);
  EXPECT_EQ(result_of(doubtful), release_result::released) << "the earlier try succeeded (I7)";
  const auto certain = leaves(hold);
  certain->in_doubt = certain->must_be_certain = true;
  decide(certain);
  EXPECT_EQ(result_of(certain), release_result::unknown) << "or it was released by force before";
  const auto unknown = client_layer::withdrawal_of("no such lock", model::hold_id::random(), hold->lease());
  unknown->answer = std::make_shared<client_layer::promised<release_result>>();
  decide(unknown);
  EXPECT_EQ(result_of(unknown), release_result::lost);
}

TEST_F(slow_path_test, a_release_that_a_guarded_transaction_keeps_is_pending) {
  const auto hold = held("a");
  ASSERT_TRUE(server->guard("a", hold->id()));
  const auto release = leaves(hold);
  decide(release);
  EXPECT_EQ(result_of(release), release_result::pending);
  EXPECT_EQ(holder_of("a"), hold->id());
  server->unguard("a");
  decide(release);
  EXPECT_TRUE(holder_of("a").is_nil());
}

TEST_F(slow_path_test, a_force_takes_no_hold_with_a_later_token) {
  const auto hold = held("a");
  const auto force = std::make_shared<client_layer::release_operation>();
  force->name = "a";
  force->purpose = client_layer::release_operation::aim::force;
  force->upto = hold->token() - 1;
  force->answer = std::make_shared<client_layer::promised<release_result>>();
  decide(force);
  EXPECT_EQ(result_of(force), release_result::lost);
  EXPECT_EQ(holder_of("a"), hold->id());
}

TEST_F(slow_path_test, a_release_on_one_lease_leaves_a_hold_on_another) {
  const auto hold = held("a");
  const auto orphan = client_layer::withdrawal_of(
      "a", hold->id(),
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id{}));
  orphan->only_on_lease = true;
  decide(orphan);
  EXPECT_EQ(holder_of("a"), hold->id());
  orphan->lease = hold->lease();
  decide(orphan);
  EXPECT_TRUE(holder_of("a").is_nil());
}

TEST_F(slow_path_test, before_its_minimum_time_a_release_leaves_the_lock_resting) {
  const auto release = leaves(held("a"));
  release->keep_until = time.now() + 3s;
  decide(release);
  EXPECT_EQ(result_of(release), release_result::released);
  EXPECT_EQ(release->how, store::durability::durable);
  const auto tables = server->snapshot();
  ASSERT_TRUE(tables.locks.at("a").row.lease);
  EXPECT_EQ(tables.leases.at(*tables.locks.at("a").row.lease).record.ttl, 3s);
  EXPECT_TRUE(tables.locks.at("a").row.hold->is_nil());
}

TEST_F(slow_path_test, a_sweep_frees_what_the_dead_hold_and_grants_to_who_waits) {
  const auto dead = held_by_rival("a");
  const auto waiter = queued_rival("a");
  server->expire(dead.lease);
  const auto sweep = client_layer::sweep_of("a");
  decide(sweep);
  EXPECT_EQ(holder_of("a"), waiter.hold);
  EXPECT_FALSE(server->snapshot().leases.contains(dead.lease));
}

}  // namespace
}  // namespace rowlock::test
