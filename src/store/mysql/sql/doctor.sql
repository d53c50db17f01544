-- What `rowlock doctor` reads. Nothing here writes, and a user with the rights of `observe` may run all of it,
-- except where it says otherwise. Each row is the name of a fact and its value.

-- name: doctor_variables
SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('read_only', 'super_read_only', 'innodb_read_only', 'version', 'log_bin', 'sync_binlog', 'binlog_format',
   'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'max_allowed_packet', 'max_connections', 'wsrep_on',
   'group_replication_single_primary_mode', 'group_replication_group_name', 'rpl_semi_sync_master_enabled',
   'rpl_semi_sync_source_enabled', 'tx_isolation', 'transaction_isolation', 'gtid_strict_mode', 'gtid_slave_pos',
   'log_slave_updates', 'gtid_mode', 'gtid_executed', 'server_uuid', 'version_comment');

-- name: doctor_status
SHOW GLOBAL STATUS WHERE Variable_name IN
  ('Threads_connected', 'Slaves_connected', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status', 'wsrep_ready',
   'wsrep_cluster_status');

-- name: doctor_cipher
SHOW STATUS WHERE Variable_name = 'Ssl_cipher';

-- name: doctor_server
SELECT 'user', CURRENT_USER()
UNION ALL
SELECT 'has_meta', COUNT(*) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta'
UNION ALL
SELECT 'marker_engine', engine FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'rowlock_marker'
UNION ALL
-- The view shows only the triggers of tables on which this user has TRIGGER.
SELECT 'triggers', COALESCE(GROUP_CONCAT(trigger_name ORDER BY trigger_name SEPARATOR ', '), '')
FROM information_schema.triggers
WHERE trigger_schema = DATABASE()
  AND event_object_table IN ('rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_marker',
                             'rowlock_meta', 'rowlock_recording', 'rowlock_history');

-- name: doctor_clock
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);

-- name: doctor_node
SELECT CONCAT(@@hostname, ':', @@port);

-- name: doctor_grants
SHOW GRANTS FOR CURRENT_USER();

-- name: doctor_transactions
-- Needs PROCESS. Both times are in the server's own zone.
SELECT 'oldest_snapshot_s', COALESCE(MAX(TIMESTAMPDIFF(SECOND, trx_started, CONVERT_TZ(SYSDATE(), '+00:00', 'SYSTEM'))), 0)
FROM information_schema.innodb_trx
WHERE trx_mysql_thread_id <> CONNECTION_ID()
UNION ALL
SELECT 'oldest_snapshot_id',
       COALESCE((SELECT trx_mysql_thread_id
                 FROM information_schema.innodb_trx
                 WHERE trx_mysql_thread_id <> CONNECTION_ID()
                 ORDER BY trx_started
                 LIMIT 1), '');

-- name: doctor_replicas
-- MySQL: the connections on which replicas read the binary log. Without PROCESS a user would see only its own
-- connections in the first view; the second view refuses such a user.
SELECT 'replicas', COUNT(*)
FROM information_schema.processlist
WHERE command LIKE 'Binlog Dump%' AND (SELECT COUNT(*) FROM information_schema.innodb_trx) >= 0;

-- name: doctor_may_write
-- Plans a change of no row, which needs the right to change one.
EXPLAIN UPDATE rowlock_lock SET in_use = in_use WHERE name = '';

-- name: doctor_recordings
SELECT COUNT(*) FROM rowlock_recording WHERE FALSE;

-- name: doctor_history
EXPLAIN SELECT * FROM rowlock_history WHERE FALSE;

-- name: doctor_history_written
-- As doctor_may_write: this needs the right to add lines, and doctor_history_pruned the right to delete them.
EXPLAIN INSERT INTO rowlock_history SELECT * FROM rowlock_history AS o WHERE FALSE;

-- name: doctor_history_pruned
EXPLAIN DELETE FROM rowlock_history WHERE name = '';

-- name: doctor_skew
SELECT 'skew_ms', skew_ms FROM rowlock_meta WHERE id = 1;

-- name: doctor_leases
SELECT 'dead_leases', COUNT(*) FROM rowlock_lease WHERE expires_at < SYSDATE(6) - INTERVAL 5 MINUTE;

-- name: doctor_names
SELECT 'idle_names', COUNT(*)
FROM rowlock_lock
WHERE lease_id IS NULL AND in_use = 0 AND has_queue = 0 AND used_at < SYSDATE(6) - INTERVAL 30 DAY;
