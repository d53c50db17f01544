#ifdef ROWLOCK_TEST_POSTGRES

// What the doctor finds on real servers of PostgreSQL.
#include "doctor/doctor_test.hpp"
#include "store/postgres_server.hpp"
#include "store/raw_postgres.hpp"
#include "support/background.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using codes = std::vector<std::string>;

// A server with autovacuum off, one superuser, and rowlock's tables.
class postgres_doctor_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"postgres"}).empty()) GTEST_SKIP() << "left out with --stores";
    if (!server_) server_ = std::make_unique<postgres_server>();
    side_ = std::make_unique<raw_postgres>(server_->url());
    side_->run("CREATE SCHEMA IF NOT EXISTS public; GRANT USAGE ON SCHEMA public TO PUBLIC");
    migrator{server_->url()}.up();
  }
  void TearDown() override {
    if (!side_) return;
    side_->run("ALTER SYSTEM RESET ALL");
    side_->run("SELECT pg_reload_conf()");
    side_->run("DROP SCHEMA public CASCADE");
  }
  static void TearDownTestSuite() { server_.reset(); }

  // Returns when a new connection has the value.
  void set(const std::string& name, const std::string& value) {
    side_->run("ALTER SYSTEM SET " + name + " = '" + value + "'");
    side_->run("SELECT pg_reload_conf()");
    while (raw_postgres{server_->url()}.value("SHOW " + name) != value) std::this_thread::yield();
  }
  std::string url_of(const std::string& role) const {
    auto url = server_->url();
    const std::string owner = "postgres@";
    return url.replace(url.find(owner), owner.size(), role + "@");
  }
  codes found(const std::string& url) const { return codes_of(diagnose(url)); }
  codes found() const { return found(server_->url()); }
  // The finding of that code, which must be there.
  finding found_as(const std::string& code, const std::string& url = {}) const {
    for (auto& one : diagnose(url.empty() ? server_->url() : url)) {
      if (one.code == code) return one;
    }
    ADD_FAILURE() << "nothing was found as " << code;
    return {};
  }
  store::server_facts facts() const { return store::read_facts(server_->url(), reading()); }

  static inline std::unique_ptr<postgres_server> server_;
  std::unique_ptr<raw_postgres> side_;
};

TEST_F(postgres_doctor_test, names_the_setting_and_its_value) {
  EXPECT_THAT(found(), ElementsAre("warning autovacuum-off", "note strong-role"));
  set("fsync", "off");
  set("full_page_writes", "off");
  set("synchronous_commit", "off");
  set("default_transaction_isolation", "serializable");
  EXPECT_THAT(found(),
              ElementsAre("error fsync-off", "warning torn-pages", "warning autovacuum-off",
                          "note guarded-writes-not-durable", "note isolation-level", "note strong-role"));
  EXPECT_EQ(found_as("fsync-off").found, "fsync is off");
  EXPECT_THAT(found_as("isolation-level").found, HasSubstr("default_transaction_isolation is serializable"));
  EXPECT_THAT(found_as("autovacuum-off").found, HasSubstr("autovacuum is off, track_counts is on"));
  EXPECT_THAT(found_as("autovacuum-off").remedy,
              HasSubstr("autovacuum = on; ALTER SYSTEM SET track_counts = on;"));
}

TEST_F(postgres_doctor_test, changes_nothing) {
  const auto next = [&] { return side_->value("SELECT txid_snapshot_xmax(txid_current_snapshot())"); };
  const auto before = next();
  std::ignore = diagnose(server_->url());
  EXPECT_EQ(next(), before) << "it has used a transaction id";
}

TEST_F(postgres_doctor_test, sees_tables_that_are_missing_old_or_too_new) {
  options elsewhere;
  elsewhere.prefix = "other_";
  const auto missing = diagnose(server_->url(), elsewhere);
  EXPECT_THAT(codes_of(missing), Contains("error not-migrated"));
  EXPECT_EQ(missing.front().remedy, "rowlock --prefix other_ migrate up");
  migrator{server_->url()}.down();
  EXPECT_THAT(found_as("not-migrated").found,
              HasSubstr(fmt::format("has version {} here", required_schema_version() - 1)));
  migrator{server_->url()}.up();
  side_->run("UPDATE rowlock_meta SET min_library = 99");
  EXPECT_THAT(found(), Contains("error too-new"));
}

TEST_F(postgres_doctor_test, sees_a_standby_and_what_its_promotion_would_lose) {
  const postgres_server standby{*server_};
  EXPECT_THAT(found(standby.url()), Contains("error replica"));
  while (facts().number("lossy_standbys") == 0) std::this_thread::yield();
  EXPECT_THAT(found_as("lossy-failover").found, HasSubstr("1 standbys replicate"));
  side_->run("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'");
  side_->run("SELECT pg_reload_conf()");
  while (facts().number("lossy_standbys") != 0) std::this_thread::yield();
  EXPECT_THAT(found(), Not(Contains(HasSubstr("lossy-failover"))));
  // The standby ends with this test, and then no commit would end.
  set("synchronous_standby_names", "");
}

TEST_F(postgres_doctor_test, takes_a_reader_of_changes_for_no_standby) {
  side_->run("ALTER SYSTEM SET wal_level = 'logical'");
  server_->crash();
  server_->start();
  side_ = std::make_unique<raw_postgres>(server_->url());
  side_->run("SELECT pg_create_logical_replication_slot('changes', 'test_decoding')");
  const auto command =
      "pg_recvlogical --dbname='" + server_->url() + "' --slot=changes --start --no-loop --file=- 2>&1";
  FILE* const reader = ::popen(command.c_str(), "r");
  ASSERT_NE(reader, nullptr);
  while (side_->value("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "0") {
    std::this_thread::yield();
  }
  EXPECT_EQ(facts()["lossy_standbys"], "0");
  side_->run("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots");
  ::pclose(reader);
  side_->run("SELECT pg_drop_replication_slot('changes')");
}

TEST_F(postgres_doctor_test, sees_what_keeps_old_rows) {
  side_->run("SELECT pg_create_physical_replication_slot('left', true)");
  EXPECT_THAT(found_as("stale-slot").found, HasSubstr("left"));
  side_->run("SELECT pg_drop_replication_slot('left')");

  raw_postgres reader{server_->url()};
  reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
  auto seen = facts();
  EXPECT_EQ(seen["oldest_snapshot_pid"], std::to_string(reader.pid()));
  EXPECT_LT(seen.number("oldest_snapshot_s"), 600);
  EXPECT_THAT(codes_of("postgres", seen), Not(Contains("warning old-transaction")));

  side_->run("ALTER TABLE rowlock_queue SET (autovacuum_enabled = off)");
  EXPECT_EQ(facts()["tables_without_autovacuum"], "rowlock_queue");
}

// A vacuum shows a snapshot, and keeps no old rows.
TEST_F(postgres_doctor_test, overlooks_the_snapshot_of_a_vacuum) {
  side_->run("CREATE TABLE large AS SELECT n, repeat('x', 500) AS text FROM generate_series(1, 20000) AS n");
  side_->run("DELETE FROM large WHERE n % 2 = 0");
  raw_postgres cleaner{server_->url()};
  cleaner.run("SET vacuum_cost_limit = 1");
  cleaner.run("SET vacuum_cost_delay = 100");
  auto cleaned = in_background([&] { cleaner.run("VACUUM large"); });
  const auto runs = [&] {
    return side_->value("SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid = " +
                        std::to_string(cleaner.pid())) == "1";
  };
  while (!runs() && cleaned.wait_for(std::chrono::seconds{0}) != std::future_status::ready)
    std::this_thread::yield();
  EXPECT_NE(facts()["oldest_snapshot_pid"], std::to_string(cleaner.pid()));
  EXPECT_TRUE(runs()) << "it has ended too early to be seen";
  side_->run("SELECT pg_terminate_backend(" + std::to_string(cleaner.pid()) + ")");
  EXPECT_ANY_THROW(cleaned.get());
  side_->run("DROP TABLE large");
}

TEST_F(postgres_doctor_test, counts_connections_and_prepared_transactions) {
  side_->run("ALTER SYSTEM SET max_prepared_transactions = 2");
  side_->run("ALTER SYSTEM SET max_connections = 20");
  server_->crash();
  server_->start();
  side_ = std::make_unique<raw_postgres>(server_->url());
  EXPECT_THAT(found(), Not(Contains("warning connections-full")));
  std::vector<std::unique_ptr<raw_postgres>> others;
  while (others.size() < 16) others.push_back(std::make_unique<raw_postgres>(server_->url()));
  EXPECT_THAT(found_as("connections-full").found, HasSubstr("max_connections is 20"));
  others[0]->run("BEGIN; SELECT 1; PREPARE TRANSACTION 'forgotten'");
  EXPECT_EQ(facts()["oldest_prepared"], "forgotten");
  others[0]->run("ROLLBACK PREPARED 'forgotten'");
}

TEST_F(postgres_doctor_test, sees_the_dead_and_the_unused) {
  side_->run(
      "INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, expires_at) "
      "SELECT gen_random_uuid(), gen_random_uuid(), '', 1, '', 30000, "
      "       clock_timestamp() - n * interval '6 minutes' FROM generate_series(0, 2) AS n");
  side_->run(
      "INSERT INTO rowlock_lock (name, kind, capacity, used_at) "
      "SELECT 'n' || n, 'mutex', 1, clock_timestamp() - interval '31 days' "
      "FROM generate_series(1, 1000) AS n");
  EXPECT_THAT(found_as("dead-holders").found, HasSubstr("2 leases"));
  EXPECT_THAT(found_as("idle-names").found, HasSubstr("1000 names"));
}

TEST_F(postgres_doctor_test, judges_rights) {
  side_->run("CREATE ROLE seer LOGIN; CREATE ROLE app LOGIN");
  EXPECT_THAT(found(url_of("seer")),
              AllOf(Contains("error missing-rights"), Contains("unknown dead-holders")));
  const std::string tables =
      "rowlock_lease, rowlock_lock, rowlock_permit, rowlock_queue, rowlock_marker, rowlock_meta";
  side_->run("GRANT SELECT ON " + tables + " TO seer; GRANT ALL ON " + tables + " TO app");
  EXPECT_THAT(found(url_of("seer")), Contains("warning history-rights"));
  EXPECT_THAT(found_as("history-rights", url_of("app")).found,
              HasSubstr("rowlock_history, rowlock_recording"));
  side_->run("GRANT SELECT ON rowlock_recording, rowlock_history TO seer, app");
  EXPECT_THAT(found_as("history-rights", url_of("app")).found, EndsWith(": rowlock_history"))
      << "it cannot write what it does";
  side_->run("GRANT INSERT, UPDATE, DELETE ON rowlock_history TO app");
  EXPECT_THAT(found(url_of("seer")),
              ElementsAre("warning autovacuum-off", "unknown old-transaction", "note looks-only"));
  EXPECT_THAT(found(url_of("app")), ElementsAre("warning autovacuum-off", "unknown old-transaction"));
  side_->run("GRANT pg_read_all_stats TO app");
  EXPECT_THAT(found(url_of("app")), ElementsAre("warning autovacuum-off"));

  const client db = rowlock::connect(server_->url());
  EXPECT_THAT(found(url_of("app")), Contains("warning strong-clients"));
  EXPECT_THAT(found_as("strong-clients").found, HasSubstr("postgres"));

  side_->run("ALTER ROLE app SET default_transaction_read_only = on");
  EXPECT_THAT(found(url_of("app")), Contains("error read-only"));
  side_->run("ALTER TABLE rowlock_meta ENABLE ROW LEVEL SECURITY");
  EXPECT_THAT(found(url_of("seer")), Contains("error refused"));
  side_->run("DROP OWNED BY seer, app; DROP ROLE seer, app");
}

TEST_F(postgres_doctor_test, says_that_a_provider_does_not_show_its_failover) {
  side_->run("CREATE ROLE rds_superuser");
  EXPECT_THAT(found(), Contains("unknown provider-managed"));
  side_->run("DROP ROLE rds_superuser");
}

TEST_F(postgres_doctor_test, compares_the_clocks_of_one_machine) {
  const auto seen = facts();
  EXPECT_LE(std::abs(seen.number("clock_offset_ms")), seen.number("clock_uncertainty_ms") + 1);
}

TEST_F(postgres_doctor_test, sees_a_pooler_that_the_url_names) {
  const auto pooled = server_->url() + (server_->url().find('?') == std::string::npos ? "?" : "&") + "pooled";
  EXPECT_THAT(found(pooled), Contains("note pooler"));
  options settings;
  settings.listen_url = server_->url();
  EXPECT_THAT(codes_of(diagnose(pooled, settings)), Not(Contains("note pooler")));
}

}  // namespace
}  // namespace rowlock::test

#endif
