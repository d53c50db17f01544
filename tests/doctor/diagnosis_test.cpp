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

TEST(diagnosis_test, finds_nothing_where_nothing_applies) {
  for (const auto& dialect : store::linked_dialects()) {
    EXPECT_THAT(codes_of(dialect, {}), IsEmpty()) << dialect;
  }
}

// Every text is a sentence for people, and each dialect uses a code for one severity, except unknown.
TEST(diagnosis_test, checks_are_complete) {
  static const std::regex code{"[a-z]+(-[a-z]+)*"};
  for (const auto& dialect : store::linked_dialects()) {
    std::map<std::string_view, severity> levels;
    for (const auto& one : store::checks_of(dialect)) {
      EXPECT_TRUE(std::regex_match(std::string{one.code}, code)) << one.code;
      EXPECT_FALSE(one.reads.empty()) << one.code;
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

// Servers of which none is here, by what they say of themselves.
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
  std::string dialect;
  values good;  // and bad, with those values instead
  values bad;
  std::string found;
};

// One step at each limit, and what no server of the tests shows.
TEST(diagnosis_test, judges_at_the_limits) {
  const auto own = std::to_string(required_schema_version());
  const auto earlier = std::to_string(required_schema_version() - 1);
  const auto later = std::to_string(required_schema_version() + 1);
  const std::vector<verdict> verdicts{
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
      {"postgres", {{"idle_names", "999"}}, {{"idle_names", "1000"}}, "note idle-names"},
      {"postgres", {{"min_library", own}}, {{"min_library", later}}, "error too-new"},
      {"postgres", {{"schema_version", own}}, {{"schema_version", earlier}}, "error not-migrated"},
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
      // the emptied table there too, but nothing that it receives, so it goes on (seen on MariaDB 10.11).
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
      {"sqlite", {{"log_bytes", "67108863"}}, {{"log_bytes", "67108864"}}, "warning old-transaction"},
      {"sqlite", {{"may_write", "true"}}, {{"may_write", "false"}}, "note looks-only"},
  };
  for (const auto& [dialect, good, bad, found] : verdicts) {
    if (!has(dialect)) continue;
    EXPECT_THAT(codes_of(dialect, facts_of(good)), IsEmpty()) << found;
    auto worse = good;
    for (const auto& [name, value] : bad) worse[name] = value;
    EXPECT_THAT(codes_of(dialect, facts_of(worse)), ElementsAre(found)) << found;
  }
}

}  // namespace
}  // namespace rowlock::test
