// One client's connections lead to different nodes: one node may have yet to apply what another has
// committed.
#include "galera_test.hpp"
#include "store/mysql/mysql_setup.hpp"

#include "support/background.hpp"

#include <rowlock/rowlock.hpp>

#include <future>

namespace rowlock::test {

namespace {

class causal_read_test : public galera_test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(galera_test::SetUp());
    sql(1)->run("CREATE TABLE valve (id int NOT NULL PRIMARY KEY)");
    until("the second node has the table", [&] {
      return number(
                 "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND "
                 "table_name = 'valve'",
                 2) == 1;
    });
  }
  // What the first node commits from here on waits at the second one, until the valve is opened.
  void close_valve() {
    valve_ = std::make_unique<mysql_connection>(as_application(url(2)));
    valve_->run("LOCK TABLES valve READ");
    for (auto threads = number("SELECT @@GLOBAL.wsrep_slave_threads", 2); threads > 0; --threads) {
      sql(1)->run("ALTER TABLE valve COMMENT 'closed " + std::to_string(threads) + "'");
    }
  }
  // Returns what call() returns at the second node, where the valve is opened once the call is under way.
  template <class Call>
  auto behind(store::session& there, Call call) {
    const auto id = there.backend().substr(0, there.backend().find(' '));
    auto answer = in_background(std::move(call));
    until("it waits, or has answered", [&] {
      return answer.wait_for(0s) == std::future_status::ready ||
             number(
                 "SELECT count(*) FROM information_schema.processlist WHERE info IS NOT NULL AND id = " + id,
                 2) == 1;
    });
    valve_->run("UNLOCK TABLES");
    return answer.get();
  }

  std::unique_ptr<mysql_connection> valve_;
};

TEST_F(causal_read_test, finds_a_hold_that_its_node_has_yet_to_apply) {
  const auto here = session_at(1);
  here->record_database_state();
  store::lease_record lease;
  lease.id = lease.client = model::lease_id::random();
  lease.ttl = 1min;
  here->create_lease(lease);
  here->create(std::vector<model::lock_definition>{{"a"}});
  const auto there = session_at(2);
  until("the second node has the lock", [&] { return number("SELECT count(*) FROM rowlock_lock", 2) == 1; });
  const auto hold = model::hold_id::random();
  for (const bool release : {false, true}) {
    SCOPED_TRACE(release ? "release" : "find");
    close_valve();
    ASSERT_EQ(here->acquire(std::vector<store::acquire_item>{{.name = "a", .lease = lease.id, .hold = hold}})
                  .size(),
              1U);
    if (release) {
      EXPECT_EQ(behind(*there,
                       [&] {
                         return there->release(std::vector<store::release_item>{{"a", lease.id, hold}},
                                               store::durability::durable);
                       })
                    .size(),
                1U);
    } else {
      EXPECT_EQ(behind(*there,
                       [&] {
                         return there->find(std::vector<store::hold_query>{{"a", hold}}).at(0).state;
                       }),
                store::hold_status::where::held);
      ASSERT_EQ(
          here->release(std::vector<store::release_item>{{"a", lease.id, hold}}, store::durability::durable)
              .size(),
          1U);
      until("the second node has applied it",
            [&] { return number("SELECT count(*) FROM rowlock_lock WHERE in_use = 0", 2) == 1; });
    }
  }
}

TEST_F(causal_read_test, lets_a_client_at_three_nodes_lose_no_permit) {
  std::atomic<int> next{0};
  options settings;
  // The first URL serves the lease's connection and one worker. So the third URL serves another worker.
  settings.connections = 4;
  const client db = connect([&] { return url(1 + next++ % 3); }, settings);
  counting_semaphore gpus{db, "gpu", 4};
  for (int round = 0; round < 40; ++round) {
    std::vector<hold> holds;
    for (int i = 0; i < 4; ++i) {
      auto granted = gpus.try_acquire_for(10s);
      ASSERT_TRUE(granted) << "a permit was lost by round " << round;
      holds.push_back(std::move(granted));
    }
    for (auto& one : holds) EXPECT_NE(one.release(), release_result::lost) << round;
  }
  EXPECT_GE(next.load(), 3) << "the connections are not at three nodes";
}

// The node has itself rolled back the transaction that lost against another node's commit, and reports that
// at the next statement.
TEST_F(causal_read_test, a_transaction_that_the_cluster_took_back_leaves_its_connection_usable) {
  const store::mysql_context context{url(1), {}};
  store::mysql_connection ours{context.endpoint, context.catalog, 5s, 5s};
  store::set_up(ours, context, 5s);
  ours.execute("begin", "START TRANSACTION");
  ours.execute("write", "UPDATE rowlock_meta SET token_floor = token_floor + 1");
  sql(2)->run("UPDATE rowlock_meta SET token_floor = token_floor + 2");
  until("the first node has applied it", [&] { return number("SELECT token_floor FROM rowlock_meta") == 2; });
  ours.rollback();
  EXPECT_NO_THROW(ours.execute("again", "DO 1"));
}

}  // namespace

}  // namespace rowlock::test
