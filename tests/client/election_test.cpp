#include "client/client_test.hpp"

#include "support/background.hpp"

#include <unistd.h>

namespace rowlock::test {
namespace {

class election_test : public client_test {
 protected:
  static options observing() {
    auto settings = quick_to_renew();
    settings.poll_interval = 50ms;
    return settings;
  }
  std::future<term> campaigning(election& in) {
    const auto before = queued("scheduler");
    auto result = in_background([&in] { return in.campaign(); });
    EXPECT_TRUE(eventually([&] { return queued("scheduler") == before + 1; }));
    return result;
  }
  std::future<leadership> waits_for_change(election& in, const leadership& seen) {
    return in_background([&in, seen] { return in.wait_for(30s, seen); });
  }

  client db = new_client(observing());
  client other = new_client(observing());
  election here{db, "scheduler"};
  election there{other, "scheduler"};
};

TEST_P(election_test, one_leads_and_the_next_is_elected_when_it_resigns) {
  auto office = here.try_campaign();
  ASSERT_TRUE(office);
  EXPECT_FALSE(there.try_campaign());
  auto next = campaigning(there);
  EXPECT_EQ(office.resign(), release_result::released);
  EXPECT_FALSE(office);
  const auto successor = next.get();
  EXPECT_TRUE(successor);
  EXPECT_GT(successor.token(), office.token());
  EXPECT_FALSE(here.try_campaign_for(20ms));
  EXPECT_TRUE(eventually([&] { return queued("scheduler") == 0; })) << "nothing of it remains";
}

TEST_P(election_test, candidates_are_elected_in_order) {
  auto first = std::make_optional(here.campaign());
  auto second = campaigning(there);
  auto third = campaigning(here);
  first.reset();
  auto leads = std::make_optional(second.get());
  EXPECT_EQ(queued("scheduler"), 1U);
  leads.reset();
  EXPECT_TRUE(third.get());
}

TEST_P(election_test, everybody_sees_who_leads_and_what_it_says) {
  EXPECT_EQ(there.observe(), leadership{});
  auto office = here.campaign();
  auto known = there.observe();
  EXPECT_TRUE(known.led);
  EXPECT_EQ(known.token, office.token());
  EXPECT_EQ(known.pid, ::getpid());
  EXPECT_EQ(known.application, "client tests");
  EXPECT_FALSE(known.host.empty());
  EXPECT_EQ(known.value, "");
  for (const std::string value : {"10.0.0.7:8080", "", "it's \"Größe\" \\ 7\n", "12 34"}) {
    office.proclaim(value);
    EXPECT_EQ(there.observe().value, value);
  }
  office.proclaim(std::string(4096, 'x'));
  EXPECT_EQ(there.observe().value.size(), 4096U);
  const auto token = office.token();
  office.resign();
  known = there.observe();
  EXPECT_FALSE(known.led);
  EXPECT_EQ(known.token, token);
  EXPECT_EQ(known.value, "");
}

TEST_P(election_test, a_new_term_begins_without_a_value) {
  auto office = here.campaign();
  office.proclaim("old");
  auto next = campaigning(there);
  office.resign();
  auto successor = next.get();
  EXPECT_TRUE(here.observe().led);
  EXPECT_EQ(here.observe().value, "");
  EXPECT_EQ(code_of([&] { office.proclaim("still me"); }), errc::hold_lost);
  successor.proclaim("new");
  EXPECT_EQ(here.observe().value, "new");
}

TEST_P(election_test, who_has_lost_the_office_proclaims_nothing) {
  auto office = here.campaign();
  office.proclaim("mine");
  // The database knows of the end of the lease before the leader does.
  kill(lease_of("scheduler"));
  EXPECT_EQ(code_of([&] { office.proclaim("still mine"); }), errc::hold_lost);
  auto successor = there.campaign();
  EXPECT_EQ(code_of([&] { office.proclaim("still mine"); }), errc::hold_lost);
  EXPECT_EQ(here.observe().value, "");
}

TEST_P(election_test, a_change_is_seen_by_who_waits_for_it) {
  auto waits = waits_for_change(there, {});
  auto office = here.campaign();
  auto seen = waits.get();
  EXPECT_TRUE(seen.led) << "also before anybody had led";
  waits = waits_for_change(there, seen);
  office.proclaim("hello");
  seen = waits.get();
  EXPECT_EQ(seen.value, "hello");
  EXPECT_EQ(there.wait_for(120ms, seen), seen) << "nothing happens";
  waits = waits_for_change(there, seen);
  office.resign();
  EXPECT_FALSE(waits.get().led);
}

TEST_P(election_test, a_change_wakes_who_waits_for_it) {
  auto never = patient();
  never.poll_interval = 1h;
  // The onlooker never polls, except on a store that sends no wake-ups.
  const client onlooker = new_client(has_mysql_dialect(GetParam()) ? observing() : never);
  election seen_from_afar{onlooker, "scheduler"};
  auto waits = waits_for_change(seen_from_afar, {});
  ASSERT_TRUE(eventually([&] { return onlooker.stats().statements > 3; }));
  auto office = std::make_optional(here.campaign());
  auto seen = waits.get();
  EXPECT_EQ(seen.token, office->token());
  waits = waits_for_change(seen_from_afar, seen);
  office->proclaim("hello");
  seen = waits.get();
  EXPECT_EQ(seen.value, "hello");
  waits = waits_for_change(seen_from_afar, seen);
  auto next = campaigning(there);
  office->resign();
  auto successor = next.get();
  seen = waits.get();
  EXPECT_EQ(seen.token, successor.token()) << "handed over";
  waits = waits_for_change(seen_from_afar, seen);
  successor.resign();
  EXPECT_FALSE(waits.get().led);
}

// The request of a third candidate finds the leader dead, elects the second, and stands in the queue.
TEST_P(election_test, a_change_that_another_candidate_causes_wakes_who_waits_for_it) {
  auto never = slow_to_renew();
  never.poll_interval = 1h;
  never.sweep_interval.reset();
  const client first = new_client(never), second = new_client(never), third = new_client(never);
  const client onlooker = new_client(has_mysql_dialect(GetParam()) ? observing() : never);
  election one{first, "scheduler"}, two{second, "scheduler"}, three{third, "scheduler"};
  election seen_from_afar{onlooker, "scheduler"};
  // The onlooker has seen a change, so it listens.
  auto waits = waits_for_change(seen_from_afar, {});
  ASSERT_TRUE(eventually([&] { return onlooker.stats().statements > 3; }));
  const auto office = one.campaign();
  const auto seen = waits.get();
  auto next = campaigning(two);
  const auto before = onlooker.stats().statements;
  waits = waits_for_change(seen_from_afar, seen);
  ASSERT_TRUE(eventually([&] { return onlooker.stats().statements > before; }));
  kill(lease_of("scheduler"));
  auto last = in_background([&] { return three.campaign(); });
  auto leads = next.get();
  EXPECT_EQ(waits.wait_for(10s), std::future_status::ready);
  leads.resign();
  EXPECT_NE(waits.get(), seen);
  EXPECT_TRUE(last.get());
}

TEST_P(election_test, a_row_that_nobody_was_granted_is_no_change) {
  side().create(std::vector<model::lock_definition>{{"scheduler", model::lock_kind::election, 1}});
  EXPECT_EQ(there.wait_for(120ms, {}), leadership{});
  EXPECT_FALSE(there.observe().led);
}

TEST_P(election_test, who_waits_for_a_change_can_be_stopped) {
  std::stop_source stop;
  auto waits = in_background([&] { return there.wait({}, stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(waits.get(), leadership{});
}

TEST_P(election_test, a_leader_whose_lease_has_expired_leads_no_more) {
  auto office = here.campaign();
  fixture().expire(lease_of("scheduler"));
  const auto known = there.observe();
  EXPECT_FALSE(known.led);
  EXPECT_EQ(known.token, office.token());
  EXPECT_GT(there.try_campaign().token(), office.token());
}

TEST_P(election_test, impossible_values_and_other_locks_are_refused) {
  auto office = here.campaign();
  EXPECT_EQ(code_of([&] { office.proclaim(std::string(4097, 'x')); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { office.proclaim("\xff"); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { office.proclaim(std::string("a\0b", 3)); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "scheduler").try_acquire(); }), errc::mismatch);
  mutex(db, "m").acquire().release();
  EXPECT_EQ(code_of([&] { std::ignore = election(db, "m").campaign(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = election(db, "m").observe(); }), errc::mismatch);
}

TEST_P(election_test, a_leader_whose_lease_is_gone_is_elected_again) {
  const auto lost = here.campaign();
  kill(lease_of("scheduler"));
  ASSERT_TRUE(eventually([&] { return !lost; })) << "until then a grant may go to the lease that is gone";
  const auto again = here.campaign();
  EXPECT_TRUE(again);
  EXPECT_GT(again.token(), lost.token());
  EXPECT_EQ(there.observe().token, again.token());
}

TEST_P(election_test, a_term_of_limited_time) {
  auto office = here.campaign({.ttl = 20s});
  EXPECT_LE(office.office().remaining(), 20s);
  office.proclaim("for a while");
  EXPECT_EQ(there.observe().value, "for a while");
}

ROWLOCK_FOR_EACH_STORE(election_test);

}  // namespace
}  // namespace rowlock::test
