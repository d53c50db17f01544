-- name: connect_unshared
-- A MySQL Router that shares connections refuses this statement. Once a user variable has been set, it would
-- no longer refuse the statement, because it then keeps the connection to this client; but it never takes
-- several statements at once.
SELECT LAST_INSERT_ID();

-- name: connect_rollback
-- Ends a transaction that init_connect may have begun, and drops its settings for the next transaction.
ROLLBACK AND NO CHAIN NO RELEASE;

-- name: connect_names
-- Texts are UTF-8 from here on, whatever init_connect has set.
SET NAMES utf8mb4 COLLATE utf8mb4_bin;

-- name: connect_settings
-- Sets every session variable that changes the meaning of our statements or makes them fail; the server's defaults
-- and init_connect may have changed each of them. :timeout_ms and :timeout_s limit a statement, 0: no limit;
-- :lock_wait_s is how many seconds to wait for a lock.
-- Our sessions are idle between renewals, which may be hours apart, and the server must not close them for that.
-- A table's rows are found by their key, even in a small table, because a scan would meet rows that others have
-- locked, and wait.
-- MariaDB reads JSON_TABLE's columns in the database's character set; one with two bytes for a letter would yield no
-- hex digits.
-- On MariaDB a transaction that has locked rows of locks waits for nobody; MySQL has no wait shorter than a second. An
-- older MySQL, which reads neither comment, must be able to execute this, because its version is checked later.
-- Inside a transaction, our sessions are never idle for longer than a statement may take; for MySQL see
-- begin_bounded.
SET @rowlock_idle_s = :lock_wait_s, SESSION completion_type = 'NO_CHAIN',
  autocommit = 1,
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO',
  time_zone = '+00:00',
  sql_safe_updates = 0,
  sql_select_limit = 18446744073709551615,
  max_join_size = 18446744073709551615,
  sql_big_selects = 1,
  sql_auto_is_null = 0,
  unique_checks = 1,
  foreign_key_checks = 1,
  div_precision_increment = 4,
  max_sort_length = 1024,
  group_concat_max_len = 4194304,
  wait_timeout = 90000,
  interactive_timeout = 90000,
  /*M! innodb_lock_wait_timeout = :lock_wait_s, */ /*!80000 innodb_lock_wait_timeout = 1, */
  lock_wait_timeout = :lock_wait_s
  /*M! , collation_database = utf8mb4_bin, old_mode = '', join_cache_level = 0, in_predicate_conversion_threshold = 1000,
  query_cache_type = OFF, tmp_disk_table_size = 18446744073709551615, max_statement_time = :timeout_s,
  idle_transaction_timeout = :lock_wait_s, idle_readonly_transaction_timeout = :lock_wait_s,
  idle_write_transaction_timeout = :lock_wait_s */
  /*!80000 , optimizer_switch = 'block_nested_loop=off', max_execution_time = :timeout_ms, use_secondary_engine = OFF */;

-- name: connect_later_settings
-- Settings, as in connect_settings, that only later versions of MariaDB know: those that are not as we need
-- them.
SHOW SESSION VARIABLES
WHERE Variable_name = 'innodb_snapshot_isolation' AND Value = 'ON'
  OR Variable_name = 'max_tmp_session_space_usage' AND Value <> 0;

-- name: connect_innodb_snapshot_isolation
-- With it, a row that has changed since the statement's snapshot is error 1020 instead of being read anew.
SET SESSION innodb_snapshot_isolation = OFF;

-- name: connect_max_tmp_session_space_usage
-- No limit, as with tmp_disk_table_size.
SET SESSION max_tmp_session_space_usage = 0;

-- name: connect_isolation
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;

-- name: connect_read_only
-- For a session that only reads, even on a replica.
SET SESSION TRANSACTION READ ONLY;

-- name: connect_facts
-- Describes this connection.
SELECT VERSION() AS version, CONNECTION_ID() AS connection, @@SESSION.character_set_database AS character_set,
       (SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID()) AS peer,
       (SELECT engine
        FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = 'rowlock_marker') AS marker_engine;

-- name: connect_clock
-- With sysdate-is-now SYSDATE() does not advance during a statement; then the two are equal.
SELECT SYSDATE(6), SLEEP(0.001), SYSDATE(6);

-- name: connect_variables
SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('read_only', 'super_read_only', 'innodb_read_only', 'hostname', 'port', 'server_id', 'server_uuid', 'datadir',
   'wsrep_on', 'innodb_flush_log_at_trx_commit', 'max_allowed_packet', 'log_bin', 'sync_binlog', 'binlog_format',
   'group_replication_single_primary_mode', 'group_replication_group_name');

-- name: connect_status
SHOW STATUS WHERE Variable_name IN
  ('Ssl_cipher', 'wsrep_ready', 'wsrep_cluster_status', 'wsrep_cluster_state_uuid');

-- name: connect_cluster
-- Adds the settings for a cluster. Before each of our statements or transactions, the node applies everything that
-- was committed on the others until then, because a client's connections may lead to different nodes, and a missing
-- row counts as deleted. A node that has left the primary component answers no read, and no transaction is replicated
-- in pieces.
SET SESSION wsrep_sync_wait = 7, wsrep_dirty_reads = OFF, wsrep_trx_fragment_size = 0;

-- name: connect_group_failover
-- MySQL: a new primary of a replication group answers once it has applied what the former one committed. A stronger
-- setting of the server stays.
SET SESSION group_replication_consistency =
  IF(@@SESSION.group_replication_consistency = 'EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER',
     @@SESSION.group_replication_consistency);

-- name: connect_group_causal
-- MySQL, a group with several primaries: as wsrep_sync_wait in connect_cluster.
SET SESSION group_replication_consistency = 'BEFORE';

-- name: connect_group
-- MySQL: this server in its replication group. Needs SELECT on both tables. No row: it is not a member now. The first
-- part of view_id is made when a group is bootstrapped, and is the same for all its members.
SELECT m.member_state,
       (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_state = 'UNREACHABLE') * 2 >=
       (SELECT COUNT(*) FROM performance_schema.replication_group_members) AS lacks_majority,
       SUBSTRING_INDEX(s.view_id, ':', 1) AS incarnation
FROM performance_schema.replication_group_members AS m
JOIN performance_schema.replication_group_member_stats AS s ON s.member_id = m.member_id
WHERE m.member_id = @@GLOBAL.server_uuid;

-- name: server_identity
-- MySQL only. An expression, not a statement: what :identity stands for in the other statements. So the
-- server that executes a statement judges whether it is the recorded one, also behind a proxy that moves
-- sessions.
CONCAT('mysql/', @@server_uuid);

-- name: connect_start
-- The second in which this server was started. Both times are taken at the start of the statement, so the result is
-- always the same, even if the clock was changed.
SELECT UNIX_TIMESTAMP(NOW()) - CAST(variable_value AS SIGNED)
FROM /*M! information_schema.global_status */ /*!80000 performance_schema.global_status */
WHERE variable_name = 'Uptime';

-- name: begin
START TRANSACTION;

-- name: begin_bounded
-- MySQL has no limit for an idle transaction, so its limit for an idle session is lowered meanwhile: it disconnects a
-- client that stands still inside a transaction.
SET SESSION wait_timeout = @rowlock_idle_s;
START TRANSACTION;

-- name: commit
COMMIT;

-- name: commit_bounded
COMMIT;
SET SESSION wait_timeout = 90000;

-- name: lift_bound
-- After a rollback of what begin_bounded has begun.
SET SESSION wait_timeout = 90000;

-- name: schema_state
SELECT schema_version, min_library FROM rowlock_meta WHERE id = 1;

-- name: has_table
-- name: has_ledger
-- :table. Views of the catalogue would need the privilege on it; a missing table is no error here.
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :table;

-- name: live_leases
SELECT COUNT(*) FROM rowlock_lease WHERE expires_at > SYSDATE(6);

-- name: migrate_take
-- Only one migrator at a time works on these tables. The name of such a lock has at most 64 characters.
SELECT GET_LOCK(SHA2(CONCAT('rowlock migrate ', DATABASE(), '.', :prefix), 224), 31536000);

-- name: migrate_give
SELECT RELEASE_LOCK(SHA2(CONCAT('rowlock migrate ', DATABASE(), '.', :prefix), 224));

-- name: create_ledger
-- The migrator's own table. It is in no migration file, because those also run without the migrator.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    INT            NOT NULL,
  title      VARBINARY(255) NOT NULL,
  checksum   VARBINARY(64)  NOT NULL,
  applied_at DATETIME       NOT NULL,
  PRIMARY KEY (version)
) ENGINE = InnoDB;

-- name: read_ledger
SELECT version, title, checksum, DATE_FORMAT(applied_at, '%Y-%m-%dT%H:%i:%sZ') AS applied_at
FROM rowlock_migration
ORDER BY version;

-- name: record
INSERT INTO rowlock_migration (version, title, checksum, applied_at)
VALUES (:version, :title, :checksum, SYSDATE())
ON DUPLICATE KEY UPDATE title = :title, checksum = :checksum, applied_at = SYSDATE();

-- name: forget
DELETE FROM rowlock_migration WHERE version = :version;

-- name: describe
-- One row for each column, as in the schema's file. The display width of integers has no meaning, and MySQL has
-- removed it.
SELECT table_name AS table_name, column_name AS column_name,
       IF(data_type IN ('bigint', 'int', 'smallint', 'tinyint'), data_type, column_type) AS column_type,
       is_nullable = 'NO' AS not_null
FROM information_schema.columns
WHERE table_schema = DATABASE()
  AND table_name IN ('rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_marker',
                     'rowlock_meta', 'rowlock_recording', 'rowlock_history');
