// A commit that waits for its standby is made, but nobody sees it yet. Ending its backend ends the wait: then all see
// the commit although the standby does not have it, and a fail-over to the standby would undo what they have seen.
#include "process_test.hpp"

#include "store/open.hpp"
#include "support/background.hpp"
#include "support/ends_ghost.hpp"

namespace rowlock::test {

namespace {

class synchronous_standby_test : public own_server_test {
 protected:
  std::unique_ptr<store::session> connect() const {
    store::store_options how;
    how.prefix = prefix();
    how.statement_timeout = 1min;
    return store::open(settings().url, how)->connect();
  }
  // Whether the commits of this server wait for a standby, which does not exist.
  void let_commits_wait(bool they_do) {
    sql().run(they_do ? "ALTER SYSTEM SET synchronous_standby_names = 'nobody'"
                      : "ALTER SYSTEM RESET synchronous_standby_names");
    sql().run("SELECT pg_reload_conf()");
  }
};

TEST_P(synchronous_standby_test, is_waited_for_although_its_client_gave_up) {
  const auto ghost = connect();
  const auto other = connect();
  ghost->record_database_state();
  const auto lease = model::lease_id::random();
  ghost->create_lease({lease, lease, "host", 1, "test", 1h});
  std::vector<model::lock_definition> locks;
  for (int i = 0; i < 1'000; ++i) locks.push_back({"name/" + std::to_string(i)});
  ghost->create(locks);
  let_commits_wait(true);

  // Commits wait as soon as a process of the server has read its configuration.
  store::acquire_item wanted;
  wanted.lease = lease;
  std::future<bool> granted;
  // If the test throws, too: nothing else would end the wait.
  const std::shared_ptr<void> at_the_end{nullptr, [this](void*) { let_commits_wait(false); }};
  const auto waits = [&] {
    return number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1;
  };
  for (std::size_t i = 0;; ++i) {
    wanted.name = locks.at(i).name;
    wanted.hold = model::hold_id::random();
    granted = in_background([&] { return ghost->acquire({&wanted, 1}).size() == 1; });
    until("it is granted, or waits",
          [&] { return granted.wait_for(0s) == std::future_status::ready || waits(); });
    if (waits()) break;
    EXPECT_TRUE(std::exchange(granted, {}).get());
  }

  const store::hold_query query{wanted.name, wanted.hold};
  const auto state = [&] { return other->find({&query, 1}).front().state; };
  EXPECT_FALSE(other->end_ghost(ghost->backend()));
  EXPECT_TRUE(waits());
  EXPECT_EQ(state(), store::hold_status::where::absent);
  let_commits_wait(false);
  EXPECT_TRUE(granted.get());
  EXPECT_EQ(state(), store::hold_status::where::held);
  EXPECT_TRUE(ends_ghost(*other, ghost->backend()));
}

INSTANTIATE_TEST_SUITE_P(stores, synchronous_standby_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(synchronous_standby_test);

}  // namespace

}  // namespace rowlock::test
