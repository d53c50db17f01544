#include "store/check.hpp"

namespace rowlock::store {

std::span<const check> postgres_checks() {
  static constexpr std::string_view weaker_role =
      "let programs use a role with the rights that rowlock migrate grants --as run prints; "
      "docs/operations.md, \"Rights\"";
  static const check checks[] = {
      {.code = "replica",
       .level = severity::error,
       .when = fact("in_recovery").is("true"),
       .found = "pg_is_in_recovery() is true: this server is a standby",
       .why = "A standby cannot store a grant, so no lock can be acquired here.",
       .remedy = "name the primary in the URL, or all hosts with target_session_attrs=read-write"},
      {.code = "read-only",
       .level = severity::error,
       .when = fact("default_transaction_read_only").is("on"),
       .found = "default_transaction_read_only is on for this role or database",
       .why = "A client must write to acquire a lock, and refuses to connect.",
       .remedy = "ALTER ROLE {role} SET default_transaction_read_only = off, "
                 "or the same with ALTER DATABASE"},
      {.code = "server-too-old",
       .level = severity::error,
       .when = fact("version_number").is_below(12'00'00),
       .found = "server_version is {server_version}",
       .why = "rowlock's statements need PostgreSQL 12 or later.",
       .remedy = "upgrade the server"},
      {.code = "fsync-off",
       .level = severity::error,
       .when = fact("fsync").is("off"),
       .found = "fsync is off",
       .why = "A crash of the machine loses grants that were confirmed, and can damage the whole database: "
              "another client may then be granted a lock that is held, with a token that was used before.",
       .remedy = "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"},
      {.code = "torn-pages",
       .level = severity::warning,
       .when = fact("full_page_writes").is("off"),
       .found = "full_page_writes is off",
       .why = half_pages,
       .remedy = "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()"},
      {.code = "guarded-writes-not-durable",
       .level = severity::note,
       .when = fact("synchronous_commit").is("off"),
       .found = "synchronous_commit is off for this role or database",
       .why = "rowlock's own commits are durable all the same. A guarded transaction of yours may be lost "
              "in a crash, although a later token is already in use.",
       .remedy = "SET synchronous_commit = on in transactions that must not be lost"},
      {.code = "lossy-failover",
       .level = severity::warning,
       .when = fact("lossy_standbys").is_at_least(1),
       .found = "{lossy_standbys} standbys replicate from this server and none of them is synchronous "
                "(synchronous_standby_names is '{synchronous_standby_names}')",
       .why = lost_grants,
       .remedy = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()"},
      {.code = "provider-managed",
       .level = severity::unknown,
       .when = fact("provider_roles").is_not(""),
       .found = "this server seems to be managed by a provider: it has the role {provider_roles}",
       .why = "Its settings do not show whether the provider's fail-over loses commits that were confirmed.",
       .remedy = "read in the provider's manual whether its fail-over is synchronous"},
      {.code = "isolation-level",
       .level = severity::note,
       .when = fact("default_transaction_isolation").is_not("read committed"),
       .found = "default_transaction_isolation is {default_transaction_isolation}",
       .why = "rowlock's own transactions set READ COMMITTED. "
              "Your guarded transactions may fail with SQLSTATE 40001 instead of waiting.",
       .remedy = "repeat a guarded transaction that fails with SQLSTATE 40001"},
      {.code = "old-transaction",
       .level = severity::warning,
       .when = fact("oldest_snapshot_s").is_at_least(long_transaction_s),
       .found = "the backend {oldest_snapshot_pid} has kept a snapshot for {oldest_snapshot_s} s",
       .why = "Old row versions cannot be pruned meanwhile, so each acquire of a busy name becomes slower.",
       .remedy = "end that transaction: SELECT pg_terminate_backend({oldest_snapshot_pid})"},
      {.code = "prepared-transaction",
       .level = severity::warning,
       .when = fact("oldest_prepared_s").is_at_least(long_transaction_s),
       .found = "the prepared transaction '{oldest_prepared}' has been open for {oldest_prepared_s} s",
       .why = "Old row versions cannot be pruned meanwhile, so each acquire of a busy name becomes slower; "
              "a lock that it guards cannot be released.",
       .remedy = "COMMIT PREPARED or ROLLBACK PREPARED '{oldest_prepared}'"},
      {.code = "stale-slot",
       .level = severity::warning,
       .when = fact("inactive_slots").is_not(""),
       .found = "nobody uses these replication slots: {inactive_slots}",
       .why = "A slot keeps the log, until the disk is full and the server stops; "
              "one with an xmin also keeps old row versions, which makes each acquire slower.",
       .remedy = "start their consumers, or SELECT pg_drop_replication_slot('…')"},
      {.code = "autovacuum-off",
       .level = severity::warning,
       .when = fact("autovacuum").is("off") || fact("track_counts").is("off") ||
               fact("tables_without_autovacuum").is_not(""),
       .found = "autovacuum is {autovacuum}, track_counts is {track_counts}, "
                "and autovacuum_enabled is off for: {tables_without_autovacuum}",
       .why = "Every acquire leaves a dead row version. "
              "Without autovacuum the tables grow, and acquires become slower.",
       .remedy = "ALTER SYSTEM SET autovacuum = on; ALTER SYSTEM SET track_counts = on; "
                 "SELECT pg_reload_conf(); and for each table with autovacuum_enabled off: "
                 "ALTER TABLE … RESET (autovacuum_enabled)"},
      {.code = "connections-full",
       .level = severity::warning,
       .when = fact("used_connections").nearly_fills("max_connections"),
       .found = "{used_connections} connections are open, and max_connections is {max_connections}",
       .why = lost_connections,
       .remedy = fewer_connections},
      {.code = "pooler",
       .level = severity::note,
       .when = fact("pooled").is("true") && fact("listen_url").is(""),
       .found = "there is a pooler that changes the session with each transaction, "
                "and no listen URL was given",
       .why = "Notifications do not pass through it, so waiters poll, up to 140 ms apart.",
       .remedy = "set options::listen_url, --listen-url or ROWLOCK_LISTEN_URL "
                 "to a URL that bypasses the pooler"},
      {.code = "missing-rights",
       .level = severity::error,
       .when = fact("unreadable_tables").is_not(""),
       .found = "the role {role} may not read: {unreadable_tables}",
       .why = "It can neither use locks nor read them.",
       .remedy = "grant what rowlock migrate grants --as run, or --as observe, prints; "
                 "docs/operations.md, \"Rights\""},
      {.code = "looks-only",
       .level = severity::note,
       .when = fact("unwritable_tables").is_not(""),
       .found = "the role {role} may not write: {unwritable_tables}",
       .why = only_reads,
       .remedy = "if programs use this role, grant it what rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
      {.code = "history-rights",
       .level = severity::warning,
       .when = fact("history_rights").is_not(""),
       .found = "the role {role} may not read or may not write: {history_rights}",
       .why = "What this role does to recorded names is missing from their history, "
              "or it cannot read the history.",
       .remedy = grant_to_run},
      {.code = "strong-role",
       .level = severity::note,
       .when =
           fact("is_owner").is_there() && (fact("is_superuser").is("true") || fact("is_owner").is("true")),
       .found = "the role {role} of this command is a superuser ({is_superuser}) "
                "or owns the tables ({is_owner})",
       .why = too_many_rights,
       .remedy = weaker_role},
      {.code = "strong-clients",
       .level = severity::warning,
       .when = fact("strong_clients").is_not(""),
       .found = "clients of rowlock are connected as a superuser or as the tables' owner: {strong_clients}",
       .why = too_many_rights,
       .remedy = weaker_role},
  };
  return checks;
}

}  // namespace rowlock::store
