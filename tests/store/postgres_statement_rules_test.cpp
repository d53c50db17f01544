// No statement that writes decides from another table: each test shows what the tempting statement does in
// the same steps, and what the store does.
#include "store/postgres_test.hpp"
#include "store/statement_rules.hpp"

namespace rowlock::test {
namespace {

class postgres_statement_rules_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    one_ = raw();
    two_ = raw();
    create(*session_, "a");
  }

  // A lock whose holder's lease is missing, so that the lock is free; and a transaction that has just granted it to a
  // lease which the transaction also made.
  claim grant_uncommitted() {
    one_->run(
        "UPDATE rowlock_lock SET in_use = 1, lease_id = gen_random_uuid(), hold_id = gen_random_uuid()");
    claim next{"a", lease_id::random(), hold_id::random()};
    one_->run("BEGIN");
    one_->run(
        "INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, expires_at) "
        "VALUES ($1, $1, '', 1, '', 30000, clock_timestamp() + interval '30 seconds')",
        {next.lease.to_string()});
    one_->run("UPDATE rowlock_lock SET lease_id = $1, hold_id = $2",
              {next.lease.to_string(), next.hold.to_string()});
    return next;
  }

  std::string holder() {
    return lease_id::parse(side_->value("SELECT lease_id FROM rowlock_lock")).to_string();
  }

  std::unique_ptr<store::session> session_;
  std::unique_ptr<raw_postgres> one_, two_;
};

TEST_F(postgres_statement_rules_test, acquire_that_asks_whether_the_holder_lives_steals_a_live_lock) {
  const auto next = grant_uncommitted();
  two_->run_until_blocked(
      "UPDATE rowlock_lock AS l SET lease_id = '11111111111111111111111111111111' WHERE name = 'a' AND "
      "(lease_id IS NULL OR NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = l.lease_id))",
      *side_);
  one_->run("COMMIT");
  two_->finish();
  EXPECT_NE(holder(), next.lease.to_string())
      << "this server reads the lease anew; then the rule is not needed";
}

TEST_F(postgres_statement_rules_test, the_store_leaves_that_lock_to_its_holder) {
  const auto next = grant_uncommitted();
  expect_left_to_its_holder(*session_, next, [&] { one_->run("COMMIT"); });
}

TEST_F(postgres_statement_rules_test, release_that_asks_whether_somebody_waits_loses_a_waiter) {
  const auto holder = claim{"a", new_lease(*session_), hold_id::random()};
  ASSERT_TRUE(acquire(*session_, holder));
  one_->run("BEGIN; UPDATE rowlock_lock SET has_queue = true, next_ticket = 2 WHERE name = 'a'");
  one_->run(
      "INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) "
      "VALUES ('a', 1, gen_random_uuid(), gen_random_uuid())");
  two_->run_until_blocked(
      "UPDATE rowlock_lock AS l SET lease_id = NULL, hold_id = NULL, in_use = 0, has_queue = false "
      "WHERE name = 'a' AND NOT EXISTS (SELECT FROM rowlock_queue AS q WHERE q.name = l.name)",
      *side_);
  one_->run("COMMIT");
  two_->finish();
  EXPECT_EQ(side_->value("SELECT has_queue FROM rowlock_lock"), "f")
      << "the rule is not needed on this server";
  EXPECT_EQ(side_->value("SELECT count(*) FROM rowlock_queue"), "1") << "and nobody will look";
}

TEST_F(postgres_statement_rules_test, the_store_sees_that_waiter) {
  expect_waiter_is_seen(
      *session_,
      [&](hold_id waiter) {
        one_->run("BEGIN; UPDATE rowlock_lock SET has_queue = true, next_ticket = 2 WHERE name = 'a'");
        one_->run(
            "INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) "
            "VALUES ('a', 1, $1::uuid, gen_random_uuid())",
            {waiter.to_string()});
      },
      [&] { one_->run("COMMIT"); });
}

// A statement whose snapshot is older than the row version that it locks, because a rival has changed the row in
// between.
class postgres_stale_snapshot_test : public postgres_statement_rules_test {
 protected:
  static constexpr auto lease = "'11111111111111111111111111111111'";
  static constexpr auto hold = "'22222222222222222222222222222222'";

  void SetUp() override {
    postgres_statement_rules_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 9}});
    two_->run("SELECT set_config('rowlock.system', system_identifier::text, false) FROM pg_control_system()");
    // The settings of the store's own connections.
    two_->run("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
  }
  // Prepares the store's statement, which then waits where it reads its first row: its snapshot is taken by then.
  void prepare(const std::string& query) {
    auto text = postgres_query(query);
    text.insert(text.find("WHERE ") + 6, "(SELECT pg_advisory_xact_lock(7)::text) = '' AND ");
    two_->run("PREPARE " + query + " AS " + text);
  }
  raw_postgres::rows run_behind(const std::string& rival, const std::string& execute) {
    one_->run("SELECT pg_advisory_lock(7)");
    two_->run_until_blocked(execute, *side_);
    side_->run(rival);
    one_->run("SELECT pg_advisory_unlock(7)");
    return two_->finish();
  }
  void start_with(int in_use, bool permit) {
    side_->run(
        "DELETE FROM rowlock_permit; UPDATE rowlock_lock SET has_queue = false, lease_id = NULL, in_use = " +
        std::to_string(in_use) + " WHERE name = 's'");
    if (permit) side_->run(insert_permit());
  }
  static std::string insert_permit() {
    return "INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token) VALUES ('s', " +
           std::string{hold} + ", " + lease + ", 2, 1)";
  }
  static std::string write_lock(const std::string& change) {
    return "UPDATE rowlock_lock SET " + change + " WHERE name = 's'";
  }
  std::string in_use() { return side_->value("SELECT in_use FROM rowlock_lock WHERE name = 's'"); }
  std::string permits() { return side_->value("SELECT count(*) FROM rowlock_permit"); }

  static std::vector<std::string> acquires() {
    const auto lease_and_hold = std::string{lease} + ", " + hold;
    return {"EXECUTE acquire_shared_one ('s', 'semaphore', 9, " + lease_and_hold + ", true, 2)",
            "EXECUTE acquire_shared ('{s}', '{semaphore}', '{9}', array[" + std::string{lease} +
                "::uuid], array[" + hold + "::uuid], '{t}', '{2}')"};
  }
  static std::vector<std::string> releases() {
    const auto leases = "array[" + std::string{lease} + "::uuid]";
    const auto batch = "('{s}', " + leases + ", array[" + hold + "::uuid], 'on'";
    return {"EXECUTE release_shared_one ('s', " + std::string{lease} + ", " + hold + ", 'on')",
            "EXECUTE release_shared " + batch + ")",
            "EXECUTE release_shared_ending " + batch + ", " + leases + ")"};
  }
};

// With an old snapshot a statement may do everything on the newest version of the row, or nothing.
TEST_F(postgres_stale_snapshot_test, acquire_decides_from_the_row_that_it_has_locked) {
  prepare("acquire_one");
  prepare("acquire");
  const auto ids = std::string{lease} + ", " + hold;
  for (const auto& execute : {"EXECUTE acquire_one ('s', 'semaphore', 9, " + ids + ", true)",
                              "EXECUTE acquire ('{s}', '{semaphore}', '{9}', array[" + std::string{lease} +
                                  "::uuid], array[" + hold + "::uuid], '{t}')"}) {
    SCOPED_TRACE(execute);
    for (const std::string change :
         {"in_use = 9, lease_id = gen_random_uuid()", "in_use = 1", "has_queue = true"}) {
      start_with(0, false);
      EXPECT_TRUE(run_behind(write_lock(change + ", token = 77"), execute).empty()) << change;
      EXPECT_EQ(side_->value("SELECT token FROM rowlock_lock WHERE name = 's'"), "77") << change;
    }
    start_with(0, false);
    EXPECT_EQ(two_->run(execute).size(), 1U) << "it was refused for another reason";
  }
}

TEST_F(postgres_stale_snapshot_test, shared_acquire_counts_on_the_row_that_it_has_locked) {
  prepare("acquire_shared_one");
  prepare("acquire_shared");
  for (const auto& execute : acquires()) {
    SCOPED_TRACE(execute);
    start_with(0, false);
    EXPECT_TRUE(run_behind(write_lock("in_use = in_use + 3, token = token + 1"), execute).empty());
    EXPECT_EQ(in_use(), "3");
    EXPECT_EQ(permits(), "0");
    for (const std::string change : {"in_use = 8", "has_queue = true", "lease_id = gen_random_uuid()"}) {
      start_with(3, false);
      EXPECT_TRUE(run_behind(write_lock(change), execute).empty()) << change;
      EXPECT_EQ(permits(), "0") << change;
    }
    start_with(3, false);
    EXPECT_EQ(two_->run(execute).size(), 1U) << "it was refused for another reason";
    EXPECT_EQ(in_use(), "5");
  }
}

// The same request arrives twice at once: the later one must not fail, and must not count a second time.
TEST_F(postgres_stale_snapshot_test, shared_acquire_knows_a_hold_that_came_meanwhile) {
  prepare("acquire_shared_one");
  prepare("acquire_shared");
  for (const auto& execute : acquires()) {
    SCOPED_TRACE(execute);
    start_with(0, false);
    EXPECT_TRUE(run_behind("BEGIN; " + write_lock("in_use = 2, token = token + 1") + "; " + insert_permit() +
                               "; COMMIT",
                           execute)
                    .empty());
    EXPECT_EQ(in_use(), "2");
    EXPECT_EQ(permits(), "1");
  }
}

TEST_F(postgres_stale_snapshot_test, shared_release_takes_off_what_it_frees) {
  for (const auto* each : {"release_shared_one", "release_shared", "release_shared_ending"}) prepare(each);
  for (const auto& execute : releases()) {
    SCOPED_TRACE(execute);
    start_with(2, true);
    EXPECT_TRUE(run_behind(write_lock("in_use = in_use + 3, token = token + 1"), execute).empty());
    EXPECT_EQ(in_use(), "5");
    EXPECT_EQ(permits(), "1");
    start_with(5, true);
    const auto remove = "BEGIN; " + write_lock("in_use = 3") + "; DELETE FROM rowlock_permit; COMMIT";
    EXPECT_TRUE(run_behind(remove, execute).empty()) << "a rival released it";
    EXPECT_EQ(in_use(), "3");
    start_with(5, true);
    EXPECT_TRUE(run_behind(write_lock("has_queue = true"), execute).empty());
    EXPECT_EQ(in_use(), "5");
    EXPECT_EQ(permits(), "1");
    start_with(5, true);
    EXPECT_EQ(two_->run(execute).size(), 1U) << "it was refused for another reason";
    EXPECT_EQ(in_use(), "3");
  }
}

// A pooler may put another server's process behind a connection.
TEST_F(postgres_statement_rules_test, acquire_grants_nothing_where_the_server_is_not_the_one_that_was_asked) {
  for (const std::string setting : {"SELECT 1", "SELECT set_config('rowlock.system', '1', false)"}) {
    two_->run("DEALLOCATE ALL; PREPARE acquire_one AS " + postgres_query("acquire_one"));
    two_->run(setting);
    EXPECT_TRUE(two_->run("EXECUTE acquire_one ('a', 'mutex', 1, gen_random_uuid(), gen_random_uuid(), true)")
                    .empty());
    two_->run("DEALLOCATE ALL; PREPARE acquire AS " + postgres_query("acquire"));
    EXPECT_TRUE(two_->run("EXECUTE acquire ('{a}', '{mutex}', '{1}', array[gen_random_uuid()], "
                          "array[gen_random_uuid()], '{t}')")
                    .empty());
    two_->run("DEALLOCATE ALL; PREPARE shared AS " + postgres_query("acquire_shared_one"));
    EXPECT_TRUE(
        two_->run("EXECUTE shared ('a', 'mutex', 1, gen_random_uuid(), gen_random_uuid(), true, 1)").empty());
    two_->run("DEALLOCATE ALL; PREPARE shared AS " + postgres_query("acquire_shared"));
    EXPECT_TRUE(two_->run("EXECUTE shared ('{a}', '{mutex}', '{1}', array[gen_random_uuid()], "
                          "array[gen_random_uuid()], '{t}', '{1}')")
                    .empty());
  }
  const claim wanted{"a", new_lease(*session_), hold_id::random()};
  EXPECT_TRUE(acquire(*session_, wanted));
}

}  // namespace
}  // namespace rowlock::test
