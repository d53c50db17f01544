#include "client/keeper/hold_audit.hpp"

#include "client/parts_test.hpp"

namespace rowlock::test {
namespace {

using client_layer::hold_ptr;
using client_layer::instant;
using testing::ElementsAre;
using testing::IsEmpty;

class hold_audit_test : public parts_test {
 protected:
  hold_audit_test() {
    notifier.stop();
    notifier.run();  // ends at once, so that the notifier notifies in this thread
    own->confirm(time.now(), {});
    side->create_lease({own->id(), own->id(), "host", 1, "the process", 30s});
    audit.begin(own->id(), side->read_database_state());
  }
  ~hold_audit_test() override { holds.remove(holds.all()); }

  // A hold that stands in the database, too.
  hold_ptr held(const std::string& name) { return held(name, own); }
  hold_ptr held(const std::string& name, const std::shared_ptr<client_layer::lease>& lease) {
    auto hold = unstored(name, lease);
    grant(hold);
    EXPECT_TRUE(holds.add(hold, holds.check_count()));
    return hold;
  }
  hold_ptr unstored(const std::string& name, const std::shared_ptr<client_layer::lease>& lease) {
    return std::make_shared<client_layer::hold_state>(engine, time, model::lock_definition{name},
                                                      model::hold_id::random(), 1, lease,
                                                      model::lock_mode::exclusive, 1);
  }
  void taken_by_force(const std::string& name) {
    const std::vector<store::edit_request> force{{name, {}, [](const store::lock_view& view) {
                                                    return client_layer::decide_force(view, {}, 0us).change;
                                                  }}};
    side->edit(force);
  }
  void renewed() {
    const auto sent_at = time.now();
    audit.on_renewal(side->renew(std::vector{own->id()}), sent_at);
  }
  // Takes all steps that are due. Returns true if one of them wants a renewal.
  bool step() {
    bool wants_renewal = false;
    while (audit.next() <= time.now()) wants_renewal = audit.step() || wants_renewal;
    return wants_renewal;
  }
  int finds() const { return faults->count("find"); }

  client_layer::keeper_agenda agenda;
  client_layer::hold_registry holds{agenda};
  client_layer::recent_releases releases;
  client_layer::loss_notifier notifier{environment(), holds};
  const model::lease_id process = model::lease_id::random();
  const std::shared_ptr<client_layer::lease> own =
      std::make_shared<client_layer::lease>(process, 30s, true, process);
  client_layer::hold_audit audit{environment(), queue(), holds, releases, notifier, slot};
};

TEST_F(hold_audit_test, is_never_due_while_nothing_has_happened) {
  const auto hold = held("a");
  EXPECT_EQ(audit.next(), instant::max());
  EXPECT_EQ(finds(), 0);
}

TEST_F(hold_audit_test, a_renewal_without_news_has_a_page_of_holds_looked_up) {
  const auto hold = held("a");
  renewed();
  EXPECT_FALSE(step());
  EXPECT_EQ(finds(), 1);
  EXPECT_TRUE(holds.contains(hold->id()));
  EXPECT_EQ(audit.next(), instant::max());
}

TEST_F(hold_audit_test, a_notice_has_all_holds_checked_and_loses_what_was_taken_by_force) {
  const auto taken = held("a");
  const auto kept = held("b");
  const auto token = taken->stop_token();
  taken_by_force("a");
  renewed();
  step();
  EXPECT_EQ(taken->loss(), loss::forced);
  EXPECT_TRUE(token.stop_requested());
  EXPECT_THAT(holds.all(), ElementsAre(kept));
  const auto before = finds();
  renewed();
  step();
  EXPECT_EQ(finds(), before + 1) << "the notice is known: only a page is looked up";
}

TEST_F(hold_audit_test, a_hold_that_moves_is_judged_when_its_move_is_over) {
  const auto hold = held("a");
  auto move =
      std::make_unique<client_layer::hold_move>(std::vector{hold}, client_layer::hold_state::move::away);
  taken_by_force("a");
  renewed();
  EXPECT_FALSE(step());
  EXPECT_EQ(hold->loss(), loss::none);
  move.reset();
  time.advance(std::chrono::ceil<std::chrono::milliseconds>(environment().settings.poll_interval));
  EXPECT_TRUE(step()) << "it is still missing";
  renewed();
  step();
  EXPECT_EQ(hold->loss(), loss::forced) << "the notice was not used up";
}

TEST_F(hold_audit_test, all_holds_are_checked_in_parts) {
  std::vector<model::lock_definition> names;
  for (int i = 1000; i < 3500; ++i) names.push_back({"n" + std::to_string(i)});
  side->create(names);
  for (const auto& name : names) EXPECT_TRUE(holds.add(unstored(name.name, own), holds.check_count()));
  const auto kept = held("a");
  taken_by_force("n1000");
  server->lose_marker();
  renewed();
  step();
  EXPECT_THAT(holds.all(), ElementsAre(kept));
  EXPECT_EQ(finds(), 3);
}

TEST_F(hold_audit_test, a_crash_sends_releases_again_that_may_be_lost) {
  const auto hold = held("a");
  const auto released = model::hold_id::random();
  releases.add({"b", released, own, time.now()});
  server->lose_marker();
  renewed();
  step();
  EXPECT_TRUE(holds.contains(hold->id()));
  const auto again = submitted().releases;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.front()->hold, released);
  EXPECT_EQ(again.front()->how, store::durability::durable);
}

TEST_F(hold_audit_test, a_renewal_of_the_same_server_confirms_the_releases_before_it) {
  releases.add({"before", model::hold_id::random(), own, time.now()});
  time.advance(1ms);
  renewed();
  releases.add({"after", model::hold_id::random(), own, time.now()});
  step();
  const auto left = releases.all();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().name, "after");
}

TEST_F(hold_audit_test, tells_that_the_database_changed_when_all_holds_are_checked) {
  held("a");
  const auto gone = unstored("b", own);
  EXPECT_TRUE(holds.add(gone, holds.check_count()));
  int changes = 0;
  audit.on_database_changed = [&](const store::database_state& state) {
    ++changes;
    EXPECT_EQ(state.identity, "memory/2");
    EXPECT_EQ(state.recorded_identity, "memory/2");
    EXPECT_EQ(gone->loss(), loss::gone);
  };
  server->change_identity("memory/2");
  renewed();
  step();
  EXPECT_EQ(changes, 1);
  renewed();
  step();
  EXPECT_EQ(changes, 1);
}

TEST_F(hold_audit_test, what_a_renewal_has_shown_is_remembered_until_its_check_succeeds) {
  const auto hold = held("a");
  taken_by_force("a");
  renewed();
  for (const auto* verb : {"find", "find"}) {
    faults->refuse(verb);
    EXPECT_THROW(step(), error);
    EXPECT_LE(audit.next(), time.now());
  }
  renewed();
  step();
  EXPECT_EQ(hold->loss(), loss::forced);
}

// Without a notice the reason of the loss is unknown: the next renewal shows whether the database has changed.
TEST_F(hold_audit_test, a_missing_hold_without_news_asks_for_a_renewal_before_it_is_lost) {
  const auto hold = held("a");
  server->delete_lock("a");
  renewed();
  EXPECT_TRUE(step());
  EXPECT_TRUE(holds.contains(hold->id()));
  renewed();
  step();
  EXPECT_EQ(hold->loss(), loss::gone);
}

TEST_F(hold_audit_test, a_suspicion_is_checked_once_and_no_more_often_than_every_poll_interval) {
  held("a");
  audit.suspect();
  EXPECT_FALSE(step());
  EXPECT_EQ(finds(), 1);
  audit.suspect();
  step();
  EXPECT_EQ(finds(), 1);
  EXPECT_EQ(audit.next(), time.now() + environment().settings.poll_interval);
  server->delete_lock("a");
  advance(environment().settings.poll_interval);
  EXPECT_TRUE(step()) << "a renewal tells why it is missing";
}

TEST_F(hold_audit_test, a_hold_that_a_check_has_missed_is_looked_up_at_once) {
  const auto sent = holds.check_count();
  holds.begin_check();
  const auto late = unstored("a", own);
  EXPECT_TRUE(holds.add(late, sent));
  step();
  EXPECT_EQ(late->loss(), loss::gone);
  EXPECT_FALSE(holds.has_unchecked());
}

TEST_F(hold_audit_test, a_hold_that_is_past_its_deadline_was_lost_by_that) {
  const auto hold = held("a");
  taken_by_force("a");
  renewed();
  time.advance(30s);
  step();
  EXPECT_EQ(hold->loss(), loss::expired);
}

TEST_F(hold_audit_test, a_release_request_reaches_the_hold_with_its_reason) {
  const auto hold = held("a");
  const auto token = hold->request_token();
  const std::vector<store::edit_request> asks{
      {"a", {}, [](const store::lock_view& view) {
         return client_layer::decide_request(view, "a deploy", 5s).change;
       }}};
  side->edit(asks);
  renewed();
  step();
  EXPECT_TRUE(token.stop_requested());
  ASSERT_TRUE(hold->request());
  EXPECT_EQ(hold->request()->reason, "a deploy");
  EXPECT_EQ(hold->request()->remaining, 5s);
  EXPECT_TRUE(holds.contains(hold->id())) << "nothing is lost";
}

// The process has no lease any more that could receive notices about this hold.
TEST_F(hold_audit_test, a_hold_that_has_outlived_its_process_lease_is_looked_up_every_poll_interval) {
  const auto explicit_ttl =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 1h, false, process);
  explicit_ttl->confirm(time.now(), {});
  side->create_lease({explicit_ttl->id(), process, "host", 1, "the process", 1h});
  const auto hold = unstored("a", explicit_ttl);
  EXPECT_TRUE(holds.add(hold, holds.check_count()));
  audit.begin(model::lease_id::random(), side->read_database_state());
  step();
  EXPECT_EQ(hold->loss(), loss::forced) << "a new lease has the earlier holds checked";

  const auto kept = held("b", explicit_ttl);
  step();
  const auto before = finds();
  EXPECT_EQ(audit.next(), time.now() + environment().settings.poll_interval);
  advance(environment().settings.poll_interval);
  step();
  EXPECT_EQ(finds(), before + 1);
  EXPECT_TRUE(holds.contains(kept->id()));
}

TEST_F(hold_audit_test, drops_the_holds_that_it_was_about_to_look_at) {
  const auto hold = held("a");
  taken_by_force("a");
  renewed();
  audit.step();
  const auto before = hold.use_count();
  audit.forget();
  EXPECT_LT(hold.use_count(), before);
  EXPECT_EQ(finds(), 0);
}

}  // namespace
}  // namespace rowlock::test
