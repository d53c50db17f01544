#include "galera_test.hpp"

namespace rowlock::test {

namespace {

class competition_test : public galera_test {
 protected:
  // One worker a node, each with two threads on the same name.
  std::vector<worker> load(const std::string& mode, int rounds) {
    std::vector<worker> workers;
    for (const int node : {1, 2, 3}) workers.push_back(start(node));
    for (auto& one : workers) {
      EXPECT_EQ(one.ask("load " + mode + " 2 " + std::to_string(rounds) + " counter"), "loading");
    }
    return workers;
  }
  // No lock protects the creation of the ledger, so a holder's node may not have it yet when the lock is granted.
  void until_everywhere(const std::string& counting_one) {
    for (const int node : {1, 2, 3}) {
      until("the ledger is at every node", [&] {
        try {
          return number(counting_one, node) == 1;
        } catch (const std::exception&) {
          return false;
        }
      });
    }
  }
};

// Checks I1, I2 and I9 at once. The holder reads and writes the counter in separate statements, at its own node: what
// the previous holder has written must be there.
TEST_F(competition_test, of_all_nodes_is_exclusive_and_follows_tickets) {
  const auto session = sql(1);
  ledger book{*session, "rowlock_"};
  book.create({"counter"});
  until_everywhere("SELECT count(*) FROM rowlock_counter");
  constexpr int rounds = 8;
  auto workers = load("watching", rounds);
  for (auto& one : workers) {
    auto counts = one.counts("join", 60s);
    SCOPED_TRACE(one.reported());
    EXPECT_EQ(counts["written"], 2 * rounds);
    EXPECT_EQ(counts["lost"], 0);
    EXPECT_EQ(counts["unreleased"], 0);
  }
  const auto found = check(*session);
  EXPECT_EQ(found.counted, 6 * rounds);
  EXPECT_EQ(found.logged, 6 * rounds);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.ticket_faults, 0);
  // If hardly anybody had waited, the order would show nothing.
  EXPECT_GT(found.queued, found.logged / 2);
}

// The cluster may abort the application's commit; it never loses one.
TEST_F(competition_test, with_guarded_writes_loses_none) {
  const auto session = sql(1);
  ledger book{*session, "rowlock_"};
  book.create({"counter"});
  until_everywhere("SELECT count(*) FROM rowlock_counter");
  std::int64_t written = 0;
  for (auto& one : load("guarded", 8)) {
    auto counts = one.counts("join", 60s);
    EXPECT_EQ(counts["unaware"], 0);
    EXPECT_EQ(counts["lost"], 0);
    written += counts["written"];
  }
  const auto found = check(*session);
  EXPECT_GT(written, 0);
  EXPECT_EQ(found.counted, written);
  EXPECT_EQ(found.logged, written);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
}

// The database state is the cluster's, whichever node reports it. An epoch that rose with each change of node
// would soon leave no room for tokens.
TEST_F(competition_test, from_node_to_node_raises_no_epoch) {
  std::int64_t token = 0;
  std::int64_t epoch = 0;
  for (const int node : {1, 2, 3, 1, 3, 2}) {
    auto one = start(node);
    const auto now = one.acquire("a").token;
    EXPECT_GT(now, token);
    token = now;
    EXPECT_EQ(one.ask("release"), "released");
    const auto seen = number("SELECT epoch_s FROM rowlock_meta", node);
    if (epoch != 0) {
      EXPECT_EQ(seen, epoch);
    }
    epoch = seen;
  }
}

}  // namespace

}  // namespace rowlock::test
