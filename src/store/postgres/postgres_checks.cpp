#include "store/check.hpp"

namespace rowlock::store {

namespace {

using facts = server_facts;

constexpr std::int64_t oldest_version = 120000;
constexpr std::int64_t long_transaction_s = 600;
constexpr std::int64_t full_percent = 80;

const std::vector<check>& all() {
  static const std::vector<check> checks{
      {.code = "replica",
       .level = severity::error,
       .reads = {"in_recovery"},
       .is_so = [](const facts& of) { return of.is("in_recovery", "true"); },
       .found = "pg_is_in_recovery() is true: this server is a standby",
       .why = "A standby cannot store a grant, so no lock can be acquired here.",
       .remedy = "name the primary in the URL, or all hosts with target_session_attrs=read-write"},
      {.code = "read-only",
       .level = severity::error,
       .reads = {"default_transaction_read_only"},
       .is_so = [](const facts& of) { return of.is("default_transaction_read_only", "on"); },
       .found = "default_transaction_read_only is on for this role or database",
       .why = "A client must write to acquire a lock, and refuses to connect.",
       .remedy =
           "ALTER ROLE {role} SET default_transaction_read_only = off, or the same with ALTER DATABASE"},
      {.code = "server-too-old",
       .level = severity::error,
       .reads = {"version_number"},
       .is_so = [](const facts& of) { return of.number("version_number") < oldest_version; },
       .found = "server_version is {server_version}",
       .why = "rowlock's statements need PostgreSQL 12 or later.",
       .remedy = "upgrade the server"},
      {.code = "fsync-off",
       .level = severity::error,
       .reads = {"fsync"},
       .is_so = [](const facts& of) { return of.is("fsync", "off"); },
       .found = "fsync is off",
       .why = "A crash of the machine loses grants that were confirmed, and can damage the whole database: "
              "another client may then be granted a lock that is held, with a token that was used before.",
       .remedy = "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"},
      {.code = "torn-pages",
       .level = severity::warning,
       .reads = {"full_page_writes"},
       .is_so = [](const facts& of) { return of.is("full_page_writes", "off"); },
       .found = "full_page_writes is off",
       .why = "Unless the file system never writes half a page (ZFS), a crash of the machine can damage "
              "rowlock's tables.",
       .remedy = "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()"},
      {.code = "guarded-writes-not-durable",
       .level = severity::note,
       .reads = {"synchronous_commit"},
       .is_so = [](const facts& of) { return of.is("synchronous_commit", "off"); },
       .found = "synchronous_commit is off for this role or database",
       .why = "rowlock's own commits are durable all the same. A guarded transaction of yours may be lost in "
              "a crash, although a later token is already in use.",
       .remedy = "SET synchronous_commit = on in transactions that must not be lost"},
      {.code = "lossy-failover",
       .level = severity::warning,
       .reads = {"lossy_standbys"},
       .is_so = [](const facts& of) { return of.number("lossy_standbys") > 0; },
       .found = "{lossy_standbys} standbys replicate from this server and none of them is synchronous "
                "(synchronous_standby_names is '{synchronous_standby_names}')",
       .why = "A fail-over loses the latest grants: two clients may believe that they hold one lock, until "
              "the first one learns of the loss. Tokens keep rising.",
       .remedy = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()"},
      {.code = "provider-managed",
       .level = severity::unknown,
       .reads = {"provider_roles"},
       .is_so = [](const facts& of) { return !of["provider_roles"].empty(); },
       .found = "this server seems to be managed by a provider: it has the role {provider_roles}",
       .why = "Its settings do not show whether the provider's fail-over loses commits that were confirmed.",
       .remedy = "read in the provider's manual whether its fail-over is synchronous"},
      {.code = "isolation-level",
       .level = severity::note,
       .reads = {"default_transaction_isolation"},
       .is_so = [](const facts& of) { return !of.is("default_transaction_isolation", "read committed"); },
       .found = "default_transaction_isolation is {default_transaction_isolation}",
       .why = "rowlock's own transactions set READ COMMITTED. Your guarded transactions may fail with "
              "SQLSTATE 40001 instead of waiting.",
       .remedy = "repeat a guarded transaction that fails with SQLSTATE 40001"},
      {.code = "old-transaction",
       .level = severity::warning,
       .reads = {"oldest_snapshot_s"},
       .is_so = [](const facts& of) { return of.number("oldest_snapshot_s") >= long_transaction_s; },
       .found = "the backend {oldest_snapshot_pid} has kept a snapshot for {oldest_snapshot_s} s",
       .why = "Old row versions cannot be pruned meanwhile, so each acquire of a busy name becomes slower.",
       .remedy = "end that transaction: SELECT pg_terminate_backend({oldest_snapshot_pid})"},
      {.code = "prepared-transaction",
       .level = severity::warning,
       .reads = {"oldest_prepared_s"},
       .is_so = [](const facts& of) { return of.number("oldest_prepared_s") >= long_transaction_s; },
       .found = "the prepared transaction '{oldest_prepared}' has been open for {oldest_prepared_s} s",
       .why = "Old row versions cannot be pruned meanwhile, so each acquire of a busy name becomes slower; a "
              "lock that it guards cannot be released.",
       .remedy = "COMMIT PREPARED or ROLLBACK PREPARED '{oldest_prepared}'"},
      {.code = "stale-slot",
       .level = severity::warning,
       .reads = {"inactive_slots"},
       .is_so = [](const facts& of) { return !of["inactive_slots"].empty(); },
       .found = "nobody uses these replication slots: {inactive_slots}",
       .why = "A slot keeps the log, until the disk is full and the server stops; one with an xmin also "
              "keeps old row versions, which makes each acquire slower.",
       .remedy = "start their consumers, or SELECT pg_drop_replication_slot('…')"},
      {.code = "autovacuum-off",
       .level = severity::warning,
       .reads = {"autovacuum", "track_counts"},
       .is_so =
           [](const facts& of) {
             return of.is("autovacuum", "off") || of.is("track_counts", "off") ||
                    !of["tables_without_autovacuum"].empty();
           },
       .found = "autovacuum is {autovacuum}, track_counts is {track_counts}, and autovacuum_enabled is off "
                "for: {tables_without_autovacuum}",
       .why = "Every acquire leaves a dead row version. Without autovacuum the tables grow, and acquires "
              "become slower.",
       .remedy =
           "ALTER SYSTEM SET autovacuum = on; ALTER SYSTEM SET track_counts = on; SELECT pg_reload_conf(); "
           "and for each table with autovacuum_enabled off: ALTER TABLE … RESET (autovacuum_enabled)"},
      {.code = "connections-full",
       .level = severity::warning,
       .reads = {"used_connections", "max_connections"},
       .is_so =
           [](const facts& of) {
             return of.number("used_connections") * 100 >= of.number("max_connections") * full_percent;
           },
       .found = "{used_connections} connections are open, and max_connections is {max_connections}",
       .why = "A client that loses its connection and gets no new one cannot renew its lease, and loses its "
              "holds.",
       .remedy = "raise max_connections, set options::connections to 2, or share one client between threads"},
      {.code = "pooler",
       .level = severity::note,
       .reads = {"pooled", "listen_url"},
       .is_so = [](const facts& of) { return of.is("pooled", "true") && of["listen_url"].empty(); },
       .found =
           "there is a pooler that changes the session with each transaction, and no listen URL was given",
       .why = "Notifications do not pass through it, so waiters poll, up to 140 ms apart.",
       .remedy =
           "set options::listen_url, --listen-url or ROWLOCK_LISTEN_URL to a URL that bypasses the pooler"},
      {.code = "missing-rights",
       .level = severity::error,
       .reads = {"unreadable_tables"},
       .is_so = [](const facts& of) { return !of["unreadable_tables"].empty(); },
       .found = "the role {role} may not read: {unreadable_tables}",
       .why = "It can neither use locks nor read them.",
       .remedy = "grant what rowlock migrate grants --as run, or --as observe, prints; docs/operations.md, "
                 "\"Rights\""},
      {.code = "looks-only",
       .level = severity::note,
       .reads = {"unwritable_tables"},
       .is_so = [](const facts& of) { return !of["unwritable_tables"].empty(); },
       .found = "the role {role} may not write: {unwritable_tables}",
       .why = "It can read locks, but not use them.",
       .remedy = "if programs use this role, grant it what rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
      {.code = "history-rights",
       .level = severity::warning,
       .reads = {"history_rights"},
       .is_so = [](const facts& of) { return !of["history_rights"].empty(); },
       .found = "the role {role} may not read or may not write: {history_rights}",
       .why = "What this role does to recorded names is missing from their history, or it cannot read the "
              "history.",
       .remedy = "grant what rowlock migrate grants --as run prints; docs/operations.md, \"Rights\""},
      {.code = "strong-role",
       .level = severity::note,
       .reads = {"is_superuser", "is_owner"},
       .is_so = [](const facts& of) { return of.is("is_superuser", "true") || of.is("is_owner", "true"); },
       .found =
           "the role {role} of this command is a superuser ({is_superuser}) or owns the tables ({is_owner})",
       .why = "A program with these rights could change grants or drop the tables by mistake.",
       .remedy = "let programs use a role with the rights that rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
      {.code = "strong-clients",
       .level = severity::warning,
       .reads = {"strong_clients"},
       .is_so = [](const facts& of) { return !of["strong_clients"].empty(); },
       .found = "clients of rowlock are connected as a superuser or as the tables' owner: {strong_clients}",
       .why = "A program with these rights could change grants or drop the tables by mistake.",
       .remedy = "let programs use a role with the rights that rowlock migrate grants --as run prints; "
                 "docs/operations.md, \"Rights\""},
  };
  return checks;
}

}  // namespace

std::span<const check> postgres_checks() {
  return all();
}

}  // namespace rowlock::store
