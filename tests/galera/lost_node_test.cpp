#include "galera_test.hpp"

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <algorithm>

namespace rowlock::test {

namespace {

class lost_node_test : public galera_test {
 protected:
  // When the hold was granted, in microseconds since 1970, on the clock of the granting node.
  std::int64_t granted_at(const std::string& hold_id) const {
    return number(
        "SELECT timestampdiff(MICROSECOND, '1970-01-01', used_at) FROM rowlock_lock WHERE hold_id = unhex('" +
        hold_id + "')");
  }
};

// The queue keeps its order. A waiter at the lost node loses its place only when its lease is killed.
TEST_F(lost_node_test, that_is_killed_costs_its_own_waiters_their_place) {
  auto mortal = settings(3);
  mortal.ttl = 6s;
  auto holder = start(1);
  auto first = start(2);
  worker there{mortal};
  auto last = start(2);
  auto token = holder.acquire("nightly").token;
  int waiters = 0;
  for (auto* one : {&first, &there, &last}) {
    one->tell("acquire nightly");
    until_queued(++waiters);
  }
  nodes().kill(3);
  EXPECT_EQ(holder.ask("release"), "released");
  const auto [second, hold] = first.grant(10s);
  EXPECT_GT(second, token);
  EXPECT_EQ(first.ask("state"), "valid none");
  EXPECT_EQ(number("SELECT count(*) FROM rowlock_lock WHERE hold_id = unhex('" + hold + "')", 2), 1);
  EXPECT_EQ(first.ask("release"), "released");
  token = last.grant(mortal.ttl + 10s).token;
  EXPECT_GT(token, second);
  nodes().start(3);
  EXPECT_EQ(last.ask("release"), "released");
  EXPECT_GT(there.grant().token, token) << "it went on waiting, behind a new ticket";
  EXPECT_EQ(there.ask("release"), "released");
}

TEST_F(lost_node_test, that_is_killed_under_load_loses_and_doubles_nothing) {
  const auto session = sql(1);
  ledger book{*session, "rowlock_"};
  book.create({"one", "two"});
  std::vector<worker> workers;
  for (const int node : {1, 2, 3}) {
    auto mortal = settings(node);
    mortal.ttl = 6s;
    workers.emplace_back(mortal);
    ASSERT_EQ(workers.back().ask("load guarded 2 0 one two"), "loading");
  }
  const auto logged = [&] { return number("SELECT count(*) FROM rowlock_log"); };
  until("grants are made", [&] { return logged() > 20; });
  nodes().kill(3);
  const auto before = logged();
  until("grants go on", [&] { return logged() > before + 20; });
  workers.back().kill();
  nodes().start(3);
  workers.pop_back();
  for (auto& one : workers) {
    auto counts = one.counts("halt", 60s);
    EXPECT_EQ(counts["unaware"], 0);
  }
  const auto found = check(*session);
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
}

TEST_F(lost_node_test, that_is_killed_costs_no_hold_where_the_url_names_another) {
  auto both = settings(3);
  const auto first = url(1);
  const auto place = first.substr(first.find('@') + 1, first.rfind('/') - first.find('@') - 1);
  both.url.insert(both.url.rfind('/'), ',' + place);
  worker holder{both};
  const auto before = holder.acquire("nightly");
  nodes().kill(3);
  auto waiter = start(2);
  waiter.tell("acquire nightly");
  until_queued(1);
  EXPECT_EQ(holder.ask("state"), "valid none");
  EXPECT_NE(holder.ask("release"), "lost");
  EXPECT_GT(waiter.grant(both.ttl / 2).token, before.token);
  EXPECT_EQ(waiter.ask("release"), "released");
  nodes().start(3);
}

// The tokens that the node did not see are not issued again, though the cluster's identity has not changed.
TEST_F(lost_node_test, that_all_are_bootstrapped_from_repeats_no_token) {
  {
    auto there = start(3);
    there.acquire("nightly");
    EXPECT_EQ(there.ask("release"), "released");
    until("all have it",
          [&] { return number("SELECT count(*) FROM rowlock_lock WHERE in_use = 0", 1) == 1; });
  }
  nodes().stop(3);
  std::int64_t latest = 0;
  {
    auto here = start(1);
    for (int i = 0; i < 5; ++i) {
      latest = here.acquire("nightly").token;
      EXPECT_EQ(here.ask("release"), "released");
    }
  }
  nodes().bootstrap(3);
  {
    auto there = start(3);
    EXPECT_GT(there.acquire("nightly").token, latest);
    EXPECT_EQ(there.ask("release"), "released");
  }
  nodes().complete(3);
}

// The isolated side takes no writes, so its holder's lease cannot be renewed. The holder learns this before a
// client on the other side is granted the lock.
TEST_F(lost_node_test, that_is_isolated_notifies_its_holder_first) {
  auto short_lived = settings(3);
  short_lived.ttl = 6s;
  worker holder{short_lived};
  auto waiter = start(1);
  const auto before = holder.acquire("nightly");
  waiter.tell("acquire nightly");
  until_queued(1);
  nodes().isolate(3);
  const auto told = holder.ask("await_loss", 20s);
  ASSERT_TRUE(told.starts_with("expired ")) << told;
  const auto after = waiter.grant(short_lived.ttl + 10s);
  EXPECT_GT(after.token, before.token);
  EXPECT_LT(std::stoll(told.substr(8)), granted_at(after.hold_id));
  EXPECT_EQ(holder.ask("release"), "lost");
  nodes().rejoin(3);
  holder.tell("acquire nightly");
  until_queued(1);
  EXPECT_EQ(waiter.ask("release"), "released");
  EXPECT_GT(holder.grant().token, after.token);
  EXPECT_EQ(holder.ask("release"), "released");
}

TEST_F(lost_node_test, that_is_isolated_is_not_connected_to) {
  const auto refusal = [&]() -> std::string {
    try {
      std::ignore = connect(url(3));
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), errc::unreachable);
      return refused.what();
    }
    return "connected";
  };
  auto side = nodes().connect(3);
  nodes().isolate(3);
  EXPECT_THAT(refusal(), testing::HasSubstr("(1047)")) << "it takes no statement";
  side.run("SET GLOBAL wsrep_dirty_reads = ON");
  EXPECT_THAT(refusal(), testing::HasSubstr("wsrep_ready is OFF, wsrep_cluster_status is non-Primary"));
  side.run("SET GLOBAL wsrep_dirty_reads = OFF");
  nodes().rejoin(3);
  EXPECT_EQ(refusal(), "connected");
}

}  // namespace

}  // namespace rowlock::test
