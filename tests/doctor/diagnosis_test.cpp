// What the checks conclude from facts; no server.
#include "doctor/doctor_test.hpp"

#include <rowlock/migrate.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

using store::server_facts;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using values = std::map<std::string, std::string>;

server_facts facts_of(const values& given) {
  server_facts facts;
  for (const auto& [name, value] : given) facts.set(name, value);
  return facts;
}

bool has(const std::string& dialect) {
  return std::ranges::count(store::linked_dialects(), dialect) == 1;
}

TEST(diagnosis_test, fills_in_the_values_of_facts) {
  const auto facts = facts_of({{"role", "app"}, {"odd", "{role}"}});
  EXPECT_EQ(doctor::filled("{role} is {role}, {odd} and {none}.", facts), "app is app, {role} and .");
  EXPECT_EQ(doctor::filled("{ and }", facts), "");
  EXPECT_EQ(doctor::filled("a { b", facts), "a { b");
}

TEST(diagnosis_test, says_what_it_cannot_know_and_the_worst_first) {
  server_facts facts;
  facts.set("schema_version", 0);
  facts.set("dead_leases", 2);
  facts.set_unknown("clock_offset_ms", "hidden");
  facts.set("idle_names", 5'000);
  const auto findings = doctor::judge(store::common_checks(), facts);
  EXPECT_THAT(codes_of(findings), ElementsAre("error not-migrated", "warning dead-holders",
                                              "unknown clock-drift", "note idle-names"));
  EXPECT_EQ(findings[2].found, "clock_offset_ms cannot be read: hidden");
  EXPECT_THAT(findings[2].why, HasSubstr("did not check this"));
}

TEST(diagnosis_test, a_condition_reads_the_facts_of_both_sides) {
  const auto a = store::fact("a").is("1");
  const auto b = store::fact("b").is_not("1");
  const auto holds = [](const store::condition& when, const values& given) {
    return when.holds(facts_of(given));
  };
  EXPECT_THAT((a || b).reads, ElementsAre("a", "b"));
  EXPECT_THAT((a && b).reads, ElementsAre("a", "b"));
  EXPECT_TRUE(holds(a || b, {{"a", "1"}}));
  EXPECT_TRUE(holds(a || b, {{"b", "2"}}));
  EXPECT_FALSE(holds(a || b, {}));
  EXPECT_TRUE(holds(a && b, {{"a", "1"}, {"b", "2"}}));
  EXPECT_FALSE(holds(a && b, {{"a", "1"}}));
}

TEST(diagnosis_test, finds_nothing_where_nothing_applies) {
  for (const auto& dialect : store::linked_dialects()) {
    EXPECT_THAT(codes_of(dialect, {}), IsEmpty()) << dialect;
  }
}

// Every text is a sentence for people. A dialect may use a code twice, for different reasons, and uses it for one
// severity, except unknown.
TEST(diagnosis_test, checks_are_complete) {
  static const std::regex code{"[a-z]+(-[a-z]+)*"};
  for (const auto& dialect : store::linked_dialects()) {
    std::map<std::string_view, severity> levels;
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const auto& one : store::checks_of(dialect)) {
      EXPECT_TRUE(seen.emplace(one.code, one.why).second) << one.code << " stands twice";
      EXPECT_TRUE(std::regex_match(std::string{one.code}, code)) << one.code;
      EXPECT_FALSE(one.when.reads.empty()) << one.code;
      EXPECT_FALSE(one.found.empty()) << one.code;
      EXPECT_TRUE(one.why.ends_with('.')) << one.code;
      EXPECT_FALSE(one.remedy.empty()) << one.code;
      if (one.level == severity::unknown) continue;
      EXPECT_EQ(levels.try_emplace(one.code, one.level).first->second, one.level) << one.code;
    }
  }
}

TEST(diagnosis_test, clocks_may_differ_by_what_the_question_took) {
  const auto judge = [](const std::string& offset, const std::string& uncertainty) {
    const auto facts = facts_of({{"clock_offset_ms", offset}, {"clock_uncertainty_ms", uncertainty}});
    return codes_of(doctor::judge(store::common_checks(), facts));
  };
  EXPECT_THAT(judge("2000", "0"), IsEmpty());
  EXPECT_THAT(judge("2001", "0"), ElementsAre("warning clock-drift"));
  EXPECT_THAT(judge("-2001", "0"), ElementsAre("warning clock-drift"));
  EXPECT_THAT(judge("-2500", "600"), IsEmpty());
}

// The tests have no such servers. The facts are what such servers say of themselves.
TEST(diagnosis_test, knows_the_clusters_that_crash_under_skip_locked) {
  if (!has("mysql")) GTEST_SKIP() << "left out of the build";
  const auto judge = [](const std::string& version, const std::string& comment) {
    return codes_of("mysql", facts_of({{"wsrep_on", "ON"},
                                       {"wsrep_ready", "ON"},
                                       {"wsrep_cluster_status", "Primary"},
                                       {"skew_ms", "2000"},
                                       {"version", version},
                                       {"version_comment", comment}}));
  };
  const std::string percona =
      "Percona XtraDB Cluster (GPL), Release rel37, Revision 1, WSREP version 26.1.4.3";
  const std::string codership = "MySQL-wsrep Server (GPL), wsrep_26.21";
  for (const auto& [version, comment] : {std::pair{"8.0.45-36.1", percona},
                                         {"8.4.9-9.1", percona},
                                         {"8.0.39", codership},
                                         {"8.4.2", codership}}) {
    EXPECT_THAT(judge(version, comment), ElementsAre("error skip-locked-crash")) << version << ' ' << comment;
  }
  for (const auto& [version, comment] : {std::pair{"8.0.46-37.1", percona},
                                         {"8.0.40", codership},
                                         {"8.4.3", codership},
                                         {"10.11.6-MariaDB", std::string{"Debian 12"}}}) {
    EXPECT_THAT(judge(version, comment), IsEmpty()) << version << ' ' << comment;
  }
  for (const std::string version : {"8.4.10-10.1", "9.7.1-1.1"}) {
    EXPECT_THAT(judge(version, percona), ElementsAre("unknown skip-locked-crash")) << version;
  }
  EXPECT_THAT(codes_of("mysql", facts_of({{"wsrep_on", "OFF"}, {"version", "8.0.30"}})), IsEmpty());
}

TEST(diagnosis_test, a_group_with_several_primaries_must_be_visible) {
  if (!has("mysql")) GTEST_SKIP() << "left out of the build";
  const auto judge = [](const std::string& single) {
    return codes_of("mysql", facts_of({{"group_replication_group_name", "g"},
                                       {"group_replication_single_primary_mode", single},
                                       {"group_part", "hidden"}}));
  };
  EXPECT_THAT(judge("ON"), IsEmpty());
  EXPECT_THAT(judge("OFF"), ElementsAre("error group-rights", "note several-primaries"));
}

struct verdict {
  std::string dialect;  // empty: all dialects
  values good;
  values bad;  // what differs from good
  std::string found;
  std::vector<std::string> found_in_both = {};

  bool is_of(const std::string& other) const { return dialect.empty() || dialect == other; }
  server_facts worse() const {
    auto facts = facts_of(good);
    for (const auto& [name, value] : bad) facts.set(name, value);
    return facts;
  }
};

// Facts that make each check fire, and others that do not. For a check with a limit, these are the values on
// both sides of the limit.
std::vector<verdict> verdicts() {
  const auto own = std::to_string(required_schema_version());
  const auto earlier = std::to_string(required_schema_version() - 1);
  const auto later = std::to_string(required_schema_version() + 1);
  return {
      {"", {{"schema_version", own}}, {{"schema_version", earlier}}, "error not-migrated"},
      {"", {{"min_library", own}}, {{"min_library", later}}, "error too-new"},
      {"", {{"clock_offset_ms", "-2000"}}, {{"clock_offset_ms", "-2001"}}, "warning clock-drift"},
      {"", {{"dead_leases", "0"}}, {{"dead_leases", "1"}}, "warning dead-holders"},
      {"", {{"idle_names", "999"}}, {{"idle_names", "1000"}}, "note idle-names"},
      {"postgres", {{"in_recovery", "false"}}, {{"in_recovery", "true"}}, "error replica"},
      {"postgres",
       {{"default_transaction_read_only", "off"}},
       {{"default_transaction_read_only", "on"}},
       "error read-only"},
      {"postgres", {{"fsync", "on"}}, {{"fsync", "off"}}, "error fsync-off"},
      {"postgres", {{"full_page_writes", "on"}}, {{"full_page_writes", "off"}}, "warning torn-pages"},
      {"postgres",
       {{"synchronous_commit", "local"}},
       {{"synchronous_commit", "off"}},
       "note guarded-writes-not-durable"},
      {"postgres", {{"lossy_standbys", "0"}}, {{"lossy_standbys", "1"}}, "warning lossy-failover"},
      {"postgres", {{"provider_roles", ""}}, {{"provider_roles", "rds"}}, "unknown provider-managed"},
      {"postgres",
       {{"default_transaction_isolation", "read committed"}},
       {{"default_transaction_isolation", "serializable"}},
       "note isolation-level"},
      {"postgres", {{"inactive_slots", ""}}, {{"inactive_slots", "left"}}, "warning stale-slot"},
      {"postgres", {{"pooled", "true"}, {"listen_url", "given"}}, {{"listen_url", ""}}, "note pooler"},
      {"postgres", {{"pooled", "false"}, {"listen_url", ""}}, {{"pooled", "true"}}, "note pooler"},
      {"postgres", {{"unreadable_tables", ""}}, {{"unreadable_tables", "meta"}}, "error missing-rights"},
      {"postgres", {{"unwritable_tables", ""}}, {{"unwritable_tables", "lock"}}, "note looks-only"},
      {"postgres",
       {{"is_superuser", "false"}, {"is_owner", "false"}},
       {{"is_superuser", "true"}},
       "note strong-role"},
      {"postgres",
       {{"is_superuser", "false"}, {"is_owner", "false"}},
       {{"is_owner", "true"}},
       "note strong-role"},
      // Without rowlock's tables the fact is_owner is absent.
      {"postgres", {{"is_superuser", "true"}}, {{"is_owner", "false"}}, "note strong-role"},
      {"postgres", {{"strong_clients", ""}}, {{"strong_clients", "root"}}, "warning strong-clients"},
      {"postgres",
       {{"autovacuum", "on"}, {"track_counts", "on"}},
       {{"autovacuum", "off"}},
       "warning autovacuum-off"},
      {"postgres", {{"version_number", "120000"}}, {{"version_number", "110022"}}, "error server-too-old"},
      {"postgres", {{"oldest_snapshot_s", "599"}}, {{"oldest_snapshot_s", "600"}}, "warning old-transaction"},
      {"postgres",
       {{"oldest_prepared_s", "599"}},
       {{"oldest_prepared_s", "600"}},
       "warning prepared-transaction"},
      {"postgres",
       {{"max_connections", "100"}, {"used_connections", "79"}},
       {{"used_connections", "80"}},
       "warning connections-full"},
      {"postgres",
       {{"autovacuum", "on"}, {"track_counts", "on"}, {"tables_without_autovacuum", ""}},
       {{"tables_without_autovacuum", "rowlock_lock"}},
       "warning autovacuum-off"},
      {"postgres",
       {{"autovacuum", "on"}, {"track_counts", "on"}},
       {{"track_counts", "off"}},
       "warning autovacuum-off"},
      {"mysql", {{"takes_writes", "true"}}, {{"takes_writes", "false"}}, "error replica"},
      {"mysql",
       {{"sysdate_stands_still", "false"}},
       {{"sysdate_stands_still", "true"}},
       "error sysdate-is-now"},
      {"mysql",
       {{"log_bin", "ON"}, {"replicas", "0"}, {"binlog_format", "ROW"}},
       {{"binlog_format", "STATEMENT"}},
       "error statement-log"},
      {"mysql",
       {{"log_bin", "OFF"}, {"replicas", "0"}, {"binlog_format", "STATEMENT"}},
       {{"log_bin", "ON"}},
       "error statement-log"},
      {"mysql",
       {{"innodb_flush_log_at_trx_commit", "1"}},
       {{"innodb_flush_log_at_trx_commit", "2"}},
       "error log-not-flushed"},
      {"mysql", {{"innodb_doublewrite", "ON"}}, {{"innodb_doublewrite", "OFF"}}, "warning torn-pages"},
      {"mysql", {{"innodb_doublewrite", "1"}}, {{"innodb_doublewrite", "0"}}, "warning torn-pages"},
      {"mysql",
       {{"innodb_doublewrite", "ON"}},
       {{"innodb_doublewrite", "DETECT_ONLY"}},
       "warning torn-pages"},
      {"mysql",
       {{"isolation", "REPEATABLE-READ"}},
       {{"isolation", "READ-UNCOMMITTED"}},
       "note isolation-level"},
      {"mysql", {{"isolation", "READ-COMMITTED"}}, {{"isolation", "SERIALIZABLE"}}, "note isolation-level"},
      {"mysql", {{"may_write", "true"}}, {{"may_write", "false"}}, "note looks-only"},
      {"mysql",
       {{"ignores_read_only", "false"}},
       {{"ignores_read_only", "true"}},
       "warning ignores-read-only"},
      {"mysql", {{"is_strong", "false"}}, {{"is_strong", "true"}}, "note strong-role"},
      {"mysql",
       {{"group_replication_single_primary_mode", "OFF"},
        {"group_replication_group_name", "g"},
        {"group_part", "true"}},
       {{"group_part", "hidden"}},
       "error group-rights",
       {"note several-primaries"}},
      {"mysql",
       {{"group_replication_single_primary_mode", "OFF"},
        {"group_replication_group_name", "g"},
        {"skew_ms", "1"}},
       {{"skew_ms", "0"}},
       "warning cluster-skew",
       {"note several-primaries"}},
      {"mysql",
       {{"wsrep_on", "ON"}, {"version", "8.0.40"}, {"version_comment", "MySQL-wsrep"}},
       {{"version", "8.0.39"}},
       "error skip-locked-crash"},
      {"mysql",
       {{"wsrep_on", "ON"}, {"version", "8.0.46"}, {"version_comment", "Percona"}},
       {{"version", "8.4.10"}},
       "unknown skip-locked-crash"},
      {"mysql", {{"oldest_snapshot_s", "599"}}, {{"oldest_snapshot_s", "600"}}, "warning old-transaction"},
      {"mysql",
       {{"max_connections", "100"}, {"Threads_connected", "79"}},
       {{"Threads_connected", "80"}},
       "warning connections-full"},
      {"mysql",
       {{"max_allowed_packet", "4194304"}},
       {{"max_allowed_packet", "4194303"}},
       "warning small-packets"},
      {"mysql",
       {{"group_replication_single_primary_mode", "ON"},
        {"group_replication_group_name", "g"},
        {"skew_ms", "1"}},
       {{"group_replication_single_primary_mode", "OFF"}},
       "note several-primaries"},
      {"mysql",
       {{"group_replication_single_primary_mode", "ON"},
        {"group_replication_group_name", "g"},
        {"skew_ms", "0"},
        {"group_part", "true"}},
       {{"group_part", "false"}},
       "error group-part"},
      {"mysql", {}, {{"shares_connections", "true"}}, "error router-shares"},
      {"mysql",
       {{"group_replication_group_name", "g"}, {"marker_engine", "InnoDB"}},
       {{"marker_engine", "MEMORY"}},
       "error marker-refused"},
      {"mysql",
       {{"marker_engine", "MEMORY"}, {"group_replication_group_name", ""}},
       {{"group_replication_group_name", "g"}},
       "error marker-refused"},
      {"mysql",
       {{"log_bin", "0"}, {"sync_binlog", "0"}},
       {{"log_bin", "1"}, {"replicas", "0"}},
       "error binlog-not-synced"},
      {"mysql", {{"log_bin", "OFF"}}, {{"log_bin", "ON"}}, "unknown lossy-failover"},
      // The server checks the order of what it writes to its log. Without log_slave_updates a replica writes
      // to its log that the table was emptied, but nothing of what it receives, so replication goes on (seen
      // on MariaDB 10.11).
      {"mysql",
       {{"gtid_strict_mode", "ON"},
        {"has_followed", "true"},
        {"log_bin", "ON"},
        {"sync_binlog", "1"},
        {"replicas", "0"},
        {"log_slave_updates", "OFF"},
        {"marker_engine", "MEMORY"}},
       {{"log_slave_updates", "ON"}},
       "warning marker-in-memory"},
      {"mysql",
       {{"gtid_mode", "ON"},
        {"log_bin", "ON"},
        {"sync_binlog", "1"},
        {"replicas", "0"},
        {"has_followed", "false"},
        {"marker_engine", "MEMORY"}},
       {{"has_followed", "true"}},
       "warning marker-in-memory"},
      {"mysql",
       {{"gtid_mode", "OFF_PERMISSIVE"},
        {"log_bin", "ON"},
        {"sync_binlog", "1"},
        {"replicas", "1"},
        {"waits_for_replica", "true"},
        {"marker_engine", "MEMORY"}},
       {{"gtid_mode", "ON_PERMISSIVE"}},
       "warning marker-in-memory"},
      {"mysql",
       {{"replicas", "1"}, {"waits_for_replica", "true"}},
       {{"waits_for_replica", "false"}},
       "warning lossy-failover"},
      {"mysql",
       {{"replicas", "0"}, {"waits_for_replica", "false"}},
       {{"replicas", "1"}},
       "warning lossy-failover"},
      {"mysql", {{"triggers", ""}}, {{"triggers", "audit"}}, "note triggers"},
      {"mysql",
       {{"wsrep_on", "ON"}, {"wsrep_ready", "ON"}, {"wsrep_cluster_status", "Primary"}},
       {{"wsrep_cluster_status", "non-Primary"}},
       "error cluster-part"},
      {"postgres",
       {{"history_rights", ""}},
       {{"history_rights", "rowlock_history"}},
       "warning history-rights"},
      {"mysql", {{"history_rights", ""}}, {{"history_rights", "rowlock_history"}}, "warning history-rights"},
      {"mysql",
       {{"wsrep_on", "ON"}, {"wsrep_ready", "ON"}, {"wsrep_cluster_status", "Primary"}, {"skew_ms", "1"}},
       {{"skew_ms", "0"}},
       "warning cluster-skew"},
      {"mysql", {{"node_count", "1"}}, {{"node_count", "2"}}, "note cluster-balancer"},
      {"sqlite",
       {{"file_system_kind", "disk"}},
       {{"file_system_kind", "network"}},
       "error network-file-system"},
      {"sqlite",
       {{"file_system_kind", "disk"}},
       {{"file_system_kind", "fuse"}},
       "unknown network-file-system"},
      {"sqlite", {{"file_system_kind", "disk"}}, {{"file_system_kind", "memory"}}, "warning file-in-memory"},
      {"sqlite", {{"names", "1"}}, {{"names", "2"}}, "error hard-links"},
      {"sqlite", {{"mount_point", "false"}}, {{"mount_point", "true"}}, "error mounted-file"},
      {"sqlite", {{"without_side_files", ""}}, {{"without_side_files", "7"}}, "error side-files-deleted"},
      {"sqlite",
       {{"schema_version", own}, {"journal_mode", "wal"}},
       {{"journal_mode", "delete"}},
       "warning journal-mode"},
      {"sqlite", {{"log_bytes", "67108863"}}, {{"log_bytes", "67108864"}}, "warning old-transaction"},
      {"sqlite", {{"may_write", "true"}}, {{"may_write", "false"}}, "note looks-only"},
  };
}

TEST(diagnosis_test, judges_at_the_limits) {
  for (const auto& dialect : store::linked_dialects()) {
    for (const auto& one : verdicts()) {
      if (!one.is_of(dialect)) continue;
      auto expected = one.found_in_both;
      EXPECT_EQ(codes_of(dialect, facts_of(one.good)), expected) << dialect << ": " << one.found;
      expected.insert(expected.begin(), one.found);
      EXPECT_EQ(codes_of(dialect, one.worse()), expected) << dialect << ": " << one.found;
    }
  }
}

TEST(diagnosis_test, judges_each_check) {
  const auto all = verdicts();
  for (const auto& dialect : store::linked_dialects()) {
    for (const auto& check : store::checks_of(dialect)) {
      EXPECT_TRUE(std::ranges::any_of(
          all, [&](const verdict& one) { return one.is_of(dialect) && check.when.holds(one.worse()); }))
          << dialect << ": no verdict above makes this fire: " << check.found;
    }
  }
}

}  // namespace
}  // namespace rowlock::test
