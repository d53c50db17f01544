#include "client/after_commit.hpp"

#include "client/parts_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class after_commit_test : public parts_test {
 protected:
  after_commit_test() {
    begin();
    slot.open();
    server->on_call([this](store::memory_call& call) {
      if (call.at == store::memory_call::phase::before) verbs.emplace_back(call.verb);
    });
  }

  void add(const client_layer::decision& made) { todo.add(parts(), "a", made); }
  void run() {
    verbs.clear();
    todo.run(shared(), [this](auto work) { return slot.call(work); });
  }
  static client_layer::decision grant_to(const rival& waiter) {
    client_layer::decision made;
    made.change.row.emplace();
    made.outcome.next.push_back({{1, waiter.hold, waiter.lease}, waiter.lease, 8});
    return made;
  }
  model::lease_id own() { return engine->keeper().lease()->id(); }

  std::vector<std::string> verbs;
  client_layer::after_commit todo{engine->holds().checks()};
};

TEST_F(after_commit_test, sends_nothing_where_nothing_is_to_be_done) {
  add({});
  run();
  EXPECT_THAT(verbs, IsEmpty());
}

TEST_F(after_commit_test, a_waiter_of_this_client_gets_its_hold_at_once) {
  const auto asked = asks("a");
  asked->lease = engine->keeper().lease();
  parts().complete.queued(asked, 10s, engine->keeper().wakeups_received());
  auto made = grant_to({own(), asked->hold});
  made.change.row->has_queue = true;
  add(made);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->token(), 8);
  EXPECT_TRUE(hold->is_contended());
  run();
  EXPECT_THAT(verbs, IsEmpty());
}

TEST_F(after_commit_test, the_client_of_another_waiter_is_woken_and_told_which_waiter_it_is) {
  const auto other = rival_with_lease();
  side->listen(other.lease);
  add(grant_to(other));
  EXPECT_FALSE(side->wait(0s)) << "not before the commit is followed up";
  run();
  EXPECT_TRUE(side->wait(0s));
  EXPECT_THAT(side->woken_waiters(), ElementsAre(other.hold));
}

TEST_F(after_commit_test, each_client_is_woken_once_for_the_same_reason) {
  const auto other = rival_with_lease();
  client_layer::decision made;
  made.outcome.wake = {other.lease};
  made.change.notices = {other.lease};
  add(made);
  add(made);
  std::size_t woken = 0;
  server->on_call([&](store::memory_call& call) { woken += call.before("send_wakeups") ? 1U : 0U; });
  side->listen(other.lease);
  run();
  EXPECT_EQ(woken, 1U);
  EXPECT_TRUE(side->wait(0s));
  EXPECT_THAT(side->woken_waiters(), IsEmpty()) << "it may be anything";
}

TEST_F(after_commit_test, this_clients_own_waiters_are_looked_at_without_a_wake_up) {
  client_layer::decision made;
  made.outcome.wake = {own()};
  const auto before = engine->keeper().wakeups_received();
  add(made);
  EXPECT_EQ(engine->keeper().wakeups_received(), before + 1);
  run();
  EXPECT_THAT(verbs, IsEmpty());
}

TEST_F(after_commit_test, an_office_that_changed_wakes_its_watchers) {
  side->listen(client_layer::office_watchers());
  client_layer::decision led;
  led.change.row.emplace();
  led.change.row->kind = model::lock_kind::election;
  add(led);
  run();
  EXPECT_TRUE(side->wait(0s));
}

// Any holder may attach data to its hold; only a leader's data matters to watchers.
TEST_F(after_commit_test, a_leader_that_proclaims_wakes_the_watchers_and_no_other_holder) {
  side->listen(client_layer::office_watchers());
  client_layer::decision said;
  said.change.value = "7 x";
  said.outcome.stored.kind = model::lock_kind::mutex;
  add(said);
  run();
  EXPECT_FALSE(side->wait(0s));
  said.outcome.stored.kind = model::lock_kind::election;
  add(said);
  run();
  EXPECT_TRUE(side->wait(0s));
}

TEST_F(after_commit_test, a_candidate_that_only_waits_wakes_no_watcher) {
  side->listen(client_layer::office_watchers());
  client_layer::decision queued;
  queued.change.row.emplace();
  queued.change.row->kind = model::lock_kind::election;
  queued.change.enqueue.push_back({});
  add(queued);
  run();
  EXPECT_FALSE(side->wait(0s));
}

TEST_F(after_commit_test, waiters_beyond_the_part_that_was_read_are_left_to_a_sweep) {
  client_layer::decision made;
  made.outcome.more = true;
  add(made);
  const auto sweeps = submitted().releases;
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps.front()->name, "a");
  EXPECT_EQ(sweeps.front()->purpose, client_layer::release_operation::aim::sweep);
}

// Somebody waits for the wake-ups. And no lease may be killed before the leases are lengthened for another server's
// clock (I5).
TEST_F(after_commit_test, wakes_first_and_records_the_server_before_it_kills) {
  const auto dead = rival_with_lease();
  server->expire(dead.lease);
  client_layer::decision made = grant_to(rival_with_lease());
  made.outcome.result = client_layer::outcome::what::foreign;
  made.outcome.leases = {dead.lease, dead.lease};
  add(made);
  todo.add_missing({"b"});
  run();
  EXPECT_THAT(verbs, ElementsAre("send_wakeups", "record_database_state", "kill", "create"));
}

TEST_F(after_commit_test, kills_only_what_has_expired_by_more_than_the_skew) {
  shared().stored_skew_ms = 2000;
  const auto recently = rival_with_lease();
  const auto long_ago = rival_with_lease();
  server->expire(recently.lease, 1s);
  server->expire(long_ago.lease, 3s);
  client_layer::decision made;
  made.outcome.leases = {recently.lease, long_ago.lease};
  add(made);
  run();
  const auto leases = server->snapshot().leases;
  EXPECT_TRUE(leases.contains(recently.lease));
  EXPECT_FALSE(leases.contains(long_ago.lease));
}

TEST_F(after_commit_test, creates_each_missing_name_once) {
  for (const auto* name : {"b", "b", "c"}) todo.add_missing({name, model::lock_kind::election});
  run();
  EXPECT_THAT(verbs, ElementsAre("create"));
  const auto locks = server->snapshot().locks;
  EXPECT_EQ(locks.size(), 2U);
  EXPECT_EQ(locks.at("b").row.kind, model::lock_kind::election);
}

}  // namespace
}  // namespace rowlock::test
