#include "client/keeper/lease_keeper.hpp"

#include "client/parts_test.hpp"

#include <optional>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class lease_keeper_test : public parts_test {
 protected:
  ~lease_keeper_test() override { stop(); }

  void start() {
    runs.emplace([this] { keeper.run(); });
    EXPECT_TRUE(eventually([&] { return queue().lease() != nullptr; }));
  }
  void stop() {
    keeper.stop();
    runs.reset();
  }
  // Waits until the keeper has done all its duties once more.
  void pass_a_step() {
    const auto rests = faults->count("wait");
    EXPECT_TRUE(eventually([&] { return faults->count("wait") >= rests + 2; }));
  }
  bool soon(const std::function<bool()>& condition) {
    return eventually([&] {
      if (condition()) return true;
      advance(5ms);
      return condition();
    });
  }
  // A request of this client that waits behind that holder.
  client_layer::acquire_ptr waiting(const std::string& name) {
    auto asked = asks(name);
    asked->lease = queue().lease();
    EXPECT_TRUE(side->enqueue({name, model::lock_kind::mutex, 1, asked->lease->id(), asked->hold}, {}));
    services().complete.queued(asked, 30s, services().agenda.wakeups());
    return asked;
  }
  bool is_stored(const std::shared_ptr<client_layer::lease>& lease) const {
    return server->snapshot().leases.contains(lease->id());
  }

  client_layer::lease_keeper& keeper = engine->keeper();
  std::optional<std::jthread> runs;
};

TEST_F(lease_keeper_test, makes_the_lease_and_ends_it_when_it_is_told_to) {
  EXPECT_EQ(queue().lease(), nullptr);
  start();
  const auto lease = queue().lease();
  EXPECT_TRUE(is_stored(lease));
  stop();
  EXPECT_EQ(queue().lease(), lease);
  EXPECT_TRUE(is_stored(lease)) << "its holds are released before it ends";
  keeper.end_lease();
  EXPECT_EQ(queue().lease(), nullptr);
  EXPECT_FALSE(is_stored(lease));
}

TEST_F(lease_keeper_test, renews_at_each_interval_and_sooner_when_it_is_asked_to) {
  start();
  const auto lease = queue().lease();
  pass_a_step();
  EXPECT_EQ(environment().count.renewals, 0U);
  const auto first = lease->deadline();
  services().agenda.renew_soon();
  EXPECT_TRUE(eventually([&] { return environment().count.renewals == 1; })) << "while no time passes";
  advance(10s);
  EXPECT_TRUE(eventually([&] { return environment().count.renewals == 2; }));
  EXPECT_TRUE(eventually([&] { return lease->deadline() == first + 10s; }));
}

TEST_F(lease_keeper_test, a_renewal_that_fails_stays_due) {
  start();
  faults->refuse("renew", 2);
  services().agenda.renew_soon();
  EXPECT_TRUE(soon([&] { return environment().count.renewals == 1; }));
  EXPECT_EQ(faults->count("renew"), 3);
}

TEST_F(lease_keeper_test, no_other_duty_that_fails_keeps_it_from_renewing) {
  start();
  held_by_rival("a");
  const auto waiter = waiting("a");
  faults->deny("find", 1'000'000);
  services().agenda.look_at(time.now());
  ASSERT_TRUE(eventually([&] { return faults->count("find") > 0; }));
  services().agenda.renew_soon();
  EXPECT_TRUE(eventually([&] { return environment().count.renewals == 1; }));
}

TEST_F(lease_keeper_test, learns_the_stored_skew_with_a_renewal) {
  start();
  side->set_skew(7s);
  EXPECT_EQ(environment().skew(), 0s);
  services().agenda.renew_soon();
  EXPECT_TRUE(eventually([&] { return environment().skew() == 7s; }));
}

TEST_F(lease_keeper_test, a_lease_past_its_deadline_is_replaced_and_its_waiters_ask_again) {
  start();
  const auto lost = queue().lease();
  held_by_rival("a");
  const auto waiter = waiting("a");
  faults->refuse("renew", 1'000'000);
  advance(30s);
  services().agenda.renew_soon();
  ASSERT_TRUE(soon([&] { return queue().lease() != nullptr; }));
  EXPECT_NE(queue().lease(), lost);
  EXPECT_TRUE(lost->is_ended());
  EXPECT_TRUE(engine->waiters().empty());
  EXPECT_THAT(submitted().acquires, ElementsAre(waiter));
  EXPECT_TRUE(soon([&] { return !is_stored(lost); })) << "nobody waits for it any longer than its ttl";
}

TEST_F(lease_keeper_test, listens_again_on_a_new_connection_and_renews_at_once) {
  start();
  pass_a_step();
  const auto lease = queue().lease();
  const auto listens = faults->count("listen");
  faults->lose_request("wait");
  EXPECT_TRUE(soon([&] { return environment().count.renewals > 0; }));
  EXPECT_EQ(faults->count("listen"), listens + 1);
  EXPECT_EQ(queue().lease(), lease);
  EXPECT_EQ(environment().count.reconnects, 1U);
}

TEST_F(lease_keeper_test, a_lease_that_is_refused_for_good_fails_all_acquires) {
  faults->deny("create_lease", 1'000'000);
  const auto waits = asks("a");
  const auto attempt = asks("b", false);
  queue().submit(waits);
  queue().submit(attempt);
  runs.emplace([this] { keeper.run(); });
  EXPECT_TRUE(eventually([&] { return waits->answer.is_complete() && attempt->answer.is_complete(); }));
  EXPECT_EQ(failure_of(waits), errc::privilege);
  EXPECT_EQ(failure_of(attempt), errc::privilege);
}

TEST_F(lease_keeper_test, a_lease_that_is_not_to_be_had_now_fails_those_that_would_not_wait) {
  faults->refuse("create_lease", 1'000'000);
  const auto waits = asks("a");
  const auto attempt = asks("b", false);
  queue().submit(waits);
  queue().submit(attempt);
  runs.emplace([this] { keeper.run(); });
  EXPECT_TRUE(eventually([&] { return attempt->answer.is_complete(); }));
  EXPECT_EQ(failure_of(attempt), errc::contention);
  EXPECT_FALSE(waits->answer.is_complete());
  EXPECT_EQ(waits->answer.last_failure()->code(), errc::contention) << "should its time run out";
  faults->forget();
  EXPECT_TRUE(soon([&] { return queue().lease() != nullptr; }));
  EXPECT_FALSE(waits->answer.is_complete());
}

TEST_F(lease_keeper_test, pauses_after_a_failure_by_the_clients_clock) {
  faults->refuse_unreachable("create_lease", 1'000'000);
  runs.emplace([this] { keeper.run(); });
  ASSERT_TRUE(soon([&] { return faults->count("create_lease") == 2; }));
  for (int i = 0; i < 60; ++i) advance(5ms);
  EXPECT_LE(faults->count("create_lease"), 7) << "each pause of 20 ms and more is twice the one before";
}

TEST_F(lease_keeper_test, a_wake_up_that_names_a_waiter_has_it_looked_up_alone) {
  start();
  const auto first = held_by_rival("a");
  held_by_rival("b");
  const auto waiter = waiting("a");
  const auto other = waiting("b");
  pass_a_step();
  const auto before = server->asked_about();
  ASSERT_TRUE(side->hand_over({"a", first.lease, first.hold}, {}));
  EXPECT_TRUE(eventually([&] { return waiter->answer.is_complete(); })) << "while no time passes";
  EXPECT_EQ(server->asked_about(), before + 1);
  EXPECT_EQ(hold_of(waiter)->id(), holder_of("a"));
  EXPECT_FALSE(other->answer.is_complete());
}

TEST_F(lease_keeper_test, looks_at_its_waiters_when_it_is_asked_to) {
  start();
  held_by_rival("a");
  const auto waiter = waiting("a");
  pass_a_step();
  const auto looks = faults->count("find");
  pass_a_step();
  EXPECT_EQ(faults->count("find"), looks) << "nothing is due";
  services().agenda.look_at(time.now());
  EXPECT_TRUE(eventually([&] { return faults->count("find") == looks + 1; }));
  services().agenda.look_up({&waiter->hold, 1});
  EXPECT_TRUE(eventually([&] { return faults->count("find") == looks + 2; }));
}

TEST_F(lease_keeper_test, tells_of_offices_once_it_listens_to_them) {
  start();
  EXPECT_FALSE(keeper.watches_offices());
  const auto before = keeper.office_signal().version();
  keeper.watch_offices();
  EXPECT_TRUE(eventually([&] { return keeper.watches_offices(); }));
  EXPECT_TRUE(eventually([&] { return keeper.office_signal().version() == before + 1; }))
      << "something may have changed before";
  side->send_wakeups(std::vector<store::wakeup>{{client_layer::office_watchers()}});
  EXPECT_TRUE(eventually([&] { return keeper.office_signal().version() == before + 2; }));
}

TEST_F(lease_keeper_test, watches_no_office_where_the_database_must_be_polled) {
  keeper.must_poll();
  start();
  keeper.watch_offices();
  pass_a_step();
  EXPECT_FALSE(keeper.watches_offices());
}

TEST_F(lease_keeper_test, polls_a_database_that_sends_no_wake_ups_while_somebody_waits) {
  server->tell_nobody();
  keeper.must_poll();
  start();
  pass_a_step();
  EXPECT_EQ(faults->count("poll_wakeups"), 0);
  const auto first = held_by_rival("a");
  const auto waiter = waiting("a");
  ASSERT_TRUE(side->hand_over({"a", first.lease, first.hold}, {}));
  EXPECT_TRUE(soon([&] { return waiter->answer.is_complete(); }));
  EXPECT_GT(faults->count("poll_wakeups"), 0);
}

TEST_F(lease_keeper_test, sends_releases_while_no_worker_is_connected) {
  start();
  pass_a_step();
  const auto lease = queue().lease();
  const auto hold = model::hold_id::random();
  side->create(std::vector<model::lock_definition>{{"a"}});
  const std::vector<store::acquire_item> wanted{{"a", model::lock_kind::mutex, 1, lease->id(), hold}};
  ASSERT_EQ(side->acquire(wanted).size(), 1U);
  queue().submit(client_layer::withdrawal_of("a", hold, lease));
  EXPECT_TRUE(eventually([&] { return holder_of("a").is_nil(); }));
}

}  // namespace
}  // namespace rowlock::test
