#include "store/check.hpp"
#include "store/mysql/mysql_setup.hpp"

namespace rowlock::store {

namespace {

// Whether this version of a server with Galera's patch is known to crash under SKIP LOCKED (PXC-5099).
bool crashes_under_skip_locked(const server_facts& of) {
  const auto& version = of["version"];
  if (version.find("MariaDB") != std::string::npos) return false;
  const auto number = mysql_version_number(version);
  const bool of_percona = of["version_comment"].find("Percona") != std::string::npos;
  const int mended_in_8_0 = of_percona ? 8'00'46 : 8'00'40;
  const int mended_in_8_4 = of_percona ? 8'04'10 : 8'04'03;
  return number < mended_in_8_0 || (number >= 8'01'00 && number < mended_in_8_4);
}

// Whether the version may crash: Percona's notes of the 8.4 series do not say which one mends the crash.
bool may_crash_under_skip_locked(const server_facts& of) {
  return of["version_comment"].find("Percona") != std::string::npos &&
         mysql_version_number(of["version"]) >= 8'04'10;
}

}  // namespace

std::span<const check> mysql_checks() {
  static const auto writes_log = fact("log_bin").is("ON") || fact("log_bin").is("1");
  static const auto is_galera = fact("wsrep_on").is("ON");
  static const auto has_several_primaries = fact("group_replication_single_primary_mode").is("OFF") &&
                                            fact("group_replication_group_name").is_not("");
  // Whether this server shows that replicas follow it now, or that it has followed another server.
  static const auto is_replicated = fact("replicas").is_at_least(1) || fact("has_followed").is("true");
  static const auto marker_is_in_memory = fact("marker_engine").is("MEMORY");
  static constexpr std::string_view marker_into_innodb =
      "ALTER TABLE {prefix}marker ENGINE = InnoDB, on the primary";
  static const check checks[] = {
      {.code = "replica",
       .level = severity::error,
       .when = fact("takes_writes").is("false"),
       .found = "read_only is {read_only}, super_read_only is {super_read_only}, "
                "innodb_read_only is {innodb_read_only}: this server is a replica, or was made read-only",
       .why = "It stores no grant, so no lock can be acquired here.",
       .remedy = "name the primary in the URL, or all hosts: mysql://app@a,b/shop"},
      {.code = "sysdate-is-now",
       .level = severity::error,
       .when = fact("sysdate_stands_still").is("true"),
       .found = "the server runs with sysdate-is-now",
       .why = "A statement that waited reads an old clock, "
              "so leases would be renewed after they have expired; clients refuse to connect.",
       .remedy = "start the server without --sysdate-is-now"},
      {.code = "statement-log",
       .level = severity::error,
       .when = writes_log && fact("binlog_format").is("STATEMENT"),
       .found = "log_bin is {log_bin} and binlog_format is STATEMENT",
       .why = "Such a server accepts no write under READ COMMITTED, so no lock can be acquired.",
       .remedy = "SET GLOBAL binlog_format = 'ROW', and the same in the server's configuration"},
      {.code = "group-rights",
       .level = severity::error,
       .when = has_several_primaries && fact("group_part").is("hidden"),
       .found = "the user {user} may not see the members of this replication group with several primaries",
       .why = "A member that has left the group would grant locks that the others grant too, "
              "so clients refuse it.",
       .remedy = "grant the user SELECT ON performance_schema.replication_group_members "
                 "and ON performance_schema.replication_group_member_stats"},
      {.code = "router-shares",
       .level = severity::error,
       .when = fact("shares_connections").is("true"),
       .found = "the URL leads through a MySQL Router with connection_sharing=1",
       .why = "It refuses LAST_INSERT_ID() and several statements at once, "
              "which rowlock needs; clients refuse it.",
       .remedy = "set connection_sharing=0 for the route that rowlock uses"},
      {.code = "marker-refused",
       .level = severity::error,
       .when = marker_is_in_memory && fact("group_replication_group_name").is_not(""),
       .found = "{prefix}marker is a MEMORY table, and this server belongs to a replication group",
       .why = "The group accepts no write to such a table (error 3098), so no client gets a lease.",
       .remedy = marker_into_innodb},
      {.code = "log-not-flushed",
       .level = severity::error,
       .when = fact("innodb_flush_log_at_trx_commit").is_not("1"),
       .found = "innodb_flush_log_at_trx_commit is {innodb_flush_log_at_trx_commit}",
       .why = "A crash may lose the grants of the last second, "
              "and other clients may be granted the same locks.",
       .remedy = "SET GLOBAL innodb_flush_log_at_trx_commit = 1, "
                 "and the same in the server's configuration"},
      {.code = "binlog-not-synced",
       .level = severity::error,
       .when = writes_log && fact("sync_binlog").is_not("1"),
       .found = "sync_binlog is {sync_binlog} and log_bin is {log_bin}",
       .why = "After a power loss the server rolls back what its binary log has lost, "
              "so a token may be granted twice.",
       .remedy = "SET GLOBAL sync_binlog = 1, and the same in the server's configuration"},
      {.code = "torn-pages",
       .level = severity::warning,
       .when = fact("innodb_doublewrite").is("OFF") || fact("innodb_doublewrite").is("0") ||
               fact("innodb_doublewrite").is("DETECT_ONLY"),
       .found = "innodb_doublewrite is {innodb_doublewrite}",
       .why = half_pages,
       .remedy = "set innodb_doublewrite = ON in the server's configuration, and restart it"},
      {.code = "small-packets",
       .level = severity::warning,
       .when = fact("max_allowed_packet").is_below(largest_statement),
       .found = "max_allowed_packet is {max_allowed_packet}",
       .why = "A batch of many long names does not fit, and the server would close the connection.",
       .remedy = "SET GLOBAL max_allowed_packet = 4194304 or more, "
                 "and the same in the server's configuration"},
      {.code = "lossy-failover",
       .level = severity::warning,
       .when = fact("replicas").is_at_least(1) && fact("waits_for_replica").is("false"),
       .found = "replicas: {replicas}, and no commit waits for one of them: "
                "semi-synchronous replication is off, or its time-out is over",
       .why = lost_grants,
       .remedy = "turn on semi-synchronous replication here and on the replicas: "
                 "rpl_semi_sync_master_enabled and rpl_semi_sync_slave_enabled; "
                 "on MySQL rpl_semi_sync_source_enabled and rpl_semi_sync_replica_enabled"},
      {.code = "lossy-failover",
       .level = severity::unknown,
       .when = writes_log && fact("replicas").is_absent(),
       .found = "this server writes a binary log, and does not show this user how many replicas read it",
       .why = "A fail-over to an asynchronous replica loses the latest grants.",
       .remedy = "run this as a user with PROCESS; "
                 "if replicas may take over, turn on semi-synchronous replication"},
      {.code = "marker-in-memory",
       .level = severity::warning,
       .when = marker_is_in_memory && writes_log && is_replicated && fact("gtid_strict_mode").is("ON") &&
               fact("log_slave_updates").is("ON"),
       .found = "{prefix}marker is a MEMORY table, gtid_strict_mode is ON, "
                "and this server is a replica, was one, or has replicas",
       .why = "Once somebody reads the table, a replica that has restarted writes to its own log that it is "
              "empty. Under gtid_strict_mode its replication then stops (\"out-of-order sequence number\"), "
              "and it lacks all later grants when it takes over.",
       .remedy = marker_into_innodb},
      {.code = "marker-in-memory",
       .level = severity::warning,
       .when = marker_is_in_memory && writes_log && is_replicated &&
               (fact("gtid_mode").is("ON") || fact("gtid_mode").is("ON_PERMISSIVE")),
       .found = "{prefix}marker is a MEMORY table, gtid_mode is {gtid_mode}, "
                "and this server is a replica, was one, or has replicas",
       .why = "Once somebody reads the table, a replica that has restarted writes to its own log that it is "
              "empty. When it takes over later, the former primary cannot follow it, "
              "because it lacks that transaction (\"errant GTID\").",
       .remedy = marker_into_innodb},
      {.code = "skip-locked-crash",
       .level = severity::error,
       .when = is_galera && computed({"version", "version_comment"}, crashes_under_skip_locked),
       .found = "this server is {version_comment}, version {version}",
       .why = "A node of such a cluster crashes when SELECT ... FOR UPDATE SKIP LOCKED meets a row that "
              "another node's transaction is changing (PXC-5099). rowlock's statements do that under load.",
       .remedy = "upgrade to Percona XtraDB Cluster 8.0.46-37, or MySQL-wsrep 8.0.40-26.21 "
                 "or 8.4.3-26.21, or later"},
      {.code = "skip-locked-crash",
       .level = severity::unknown,
       .when = is_galera && computed({"version", "version_comment"}, may_crash_under_skip_locked),
       .found = "this server is {version_comment}, version {version}",
       .why = "Earlier versions crash under SELECT ... FOR UPDATE SKIP LOCKED (PXC-5099), "
              "and the notes of this series do not say since when it does not.",
       .remedy = "ask Percona whether PXC-5099 is mended in this version"},
      {.code = "cluster-skew",
       .level = severity::warning,
       .when = (is_galera || has_several_primaries) && fact("skew_ms").is("0"),
       .found = "this is a Galera cluster, or a replication group with several primaries, "
                "and the stored skew is 0",
       .why = "Each node of such a cluster judges expiry by its own clock. If the clocks differ, "
              "a lease may be killed before its holder knows that it has expired.",
       .remedy = "rowlock epoch skew 2s, or more than the nodes' clocks ever differ"},
      {.code = "cluster-balancer",
       .level = severity::note,
       .when = fact("node_count").is_at_least(2),
       .found = "connections to this URL lead to different nodes of a Galera cluster: {nodes}",
       .why = "It is safe, because each statement waits until its node has caught up. "
              "Guarded transactions on another node than the holder's are aborted with 1213 more often.",
       .remedy = "name the nodes in the URL instead: mysql://app@a,b,c/shop uses one of them at a time"},
      {.code = "several-primaries",
       .level = severity::note,
       .when = has_several_primaries,
       .found = "group_replication_single_primary_mode is OFF",
       .why = "It is safe: each of rowlock's transactions waits until its member has caught up, "
              "and of two that change one lock at different members the group commits one. "
              "The other is repeated, so such a lock is slower, "
              "and the group refuses guarded transactions with 3101.",
       .remedy = "name the members in the URL, mysql://app@a,b,c/shop, which uses one of them at a time; "
                 "or SELECT group_replication_switch_to_single_primary_mode()"},
      {.code = "group-part",
       .level = severity::error,
       .when = fact("group_part").is("false"),
       .found = "this server belongs to a replication group, and is not ONLINE in its majority",
       .why = "It would grant what the group knows nothing of, so clients refuse it.",
       .remedy = "START GROUP_REPLICATION here, or connect to a member of the group; "
                 "if there is no group any more, "
                 "remove group_replication_group_name from the server's configuration"},
      {.code = "cluster-part",
       .level = severity::error,
       .when =
           is_galera && (fact("wsrep_ready").is_not("ON") || fact("wsrep_cluster_status").is_not("Primary")),
       .found = "wsrep_ready is {wsrep_ready}, and wsrep_cluster_status is {wsrep_cluster_status}",
       .why = "This node has left the cluster, so it can grant nothing.",
       .remedy = "connect to a node of the primary component"},
      {.code = "triggers",
       .level = severity::note,
       .when = fact("triggers").is_not(""),
       .found = "rowlock's tables have triggers: {triggers}",
       .why =
           "They run inside rowlock's transactions: an error or a deadlock of theirs makes a request fail, "
           "and what they write makes it slower. "
           "The server also withholds the token of a grant, so rowlock reads the row once more.",
       .remedy = "drop them, or write to the history instead: rowlock history --record '*'"},
      {.code = "isolation-level",
       .level = severity::note,
       .when = fact("isolation").is("SERIALIZABLE") || fact("isolation").is("READ-UNCOMMITTED"),
       .found = "the default isolation level is {isolation}",
       .why = "rowlock's own transactions set READ COMMITTED. "
              "Under SERIALIZABLE your guarded transactions lock what they read, and deadlock more often; "
              "under READ UNCOMMITTED they see what may be rolled back.",
       .remedy = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED before a guarded transaction"},
      {.code = "old-transaction",
       .level = severity::warning,
       .when = fact("oldest_snapshot_s").is_at_least(long_transaction_s),
       .found = "a transaction of connection {oldest_snapshot_id} has been open for {oldest_snapshot_s} s "
                "(information_schema.innodb_trx)",
       .why = "Old row versions cannot be purged meanwhile, so each acquire of a busy name becomes slower.",
       .remedy = "end that transaction: KILL {oldest_snapshot_id}"},
      {.code = "connections-full",
       .level = severity::warning,
       .when = fact("Threads_connected").nearly_fills("max_connections"),
       .found = "Threads_connected is {Threads_connected}, and max_connections is {max_connections}",
       .why = lost_connections,
       .remedy = fewer_connections},
      {.code = "looks-only",
       .level = severity::note,
       .when = fact("may_write").is("false"),
       .found = "the user {user} may not change {prefix}lock",
       .why = only_reads,
       .remedy = "if programs use this user, grant it what rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
      {.code = "history-rights",
       .level = severity::warning,
       .when = fact("history_rights").is_not(""),
       .found = "the user {user} may not read or may not write: {history_rights}",
       .why = "What this user does to recorded names is missing from their history, "
              "or it cannot read the history.",
       .remedy = grant_to_run},
      {.code = "ignores-read-only",
       .level = severity::warning,
       .when = fact("ignores_read_only").is("true"),
       .found = "the user {user} of this command may write where read_only is ON "
                "(SUPER, READ_ONLY ADMIN, CONNECTION_ADMIN or all rights)",
       .why = "read_only does not keep a program with this right "
              "from writing to a server that is being replaced. "
              "rowlock looks at the setting itself, but what it committed just before may be lost.",
       .remedy = "let programs use a user with the rights that rowlock migrate grants --as run prints; "
                 "set super_read_only on MySQL"},
      {.code = "strong-role",
       .level = severity::note,
       .when = fact("is_strong").is("true"),
       .found = "the user {user} of this command has all rights on the server, or SUPER",
       .why = too_many_rights,
       .remedy = "let programs use a user with the rights that rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
  };
  return checks;
}

}  // namespace rowlock::store
