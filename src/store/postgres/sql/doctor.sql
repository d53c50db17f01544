-- What `rowlock doctor` reads. Nothing here writes, and a role with the rights of `observe` may run all of it. A
-- value is NULL if the role may not see it.

-- name: doctor_settings
-- The values before rowlock sets its own.
SELECT name AS fact, reset_val AS value
FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names',
               'default_transaction_isolation', 'default_transaction_read_only', 'autovacuum', 'track_counts',
               'max_connections', 'server_version');

-- name: doctor_clock
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;

-- name: doctor_server
-- Other sessions, and so their snapshots and the state of standbys, are shown to pg_read_all_stats alone. The role
-- names are those that only a provider of managed servers creates.
WITH me AS (
  SELECT oid, rolname, rolsuper, rolsuper OR pg_has_role('pg_read_all_stats', 'USAGE') AS sees_sessions
  FROM pg_roles
  WHERE rolname = current_user
)
SELECT 'in_recovery' AS fact, pg_is_in_recovery()::text AS value
UNION ALL
SELECT 'version_number', current_setting('server_version_num')
UNION ALL
SELECT 'role', rolname::text FROM me
UNION ALL
SELECT 'is_superuser', rolsuper::text FROM me
UNION ALL
SELECT 'used_connections', sum(numbackends)::text FROM pg_stat_database
UNION ALL
SELECT 'oldest_prepared_s', coalesce(max(extract(epoch FROM clock_timestamp() - prepared)), 0)::bigint::text
FROM pg_prepared_xacts WHERE database = current_database()
UNION ALL
SELECT 'oldest_prepared', coalesce((array_agg(gid ORDER BY prepared))[1], '')
FROM pg_prepared_xacts WHERE database = current_database()
UNION ALL
SELECT 'oldest_snapshot_s',
       CASE WHEN (SELECT sees_sessions FROM me)
            THEN coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint::text END
FROM pg_stat_activity
-- A vacuum's own snapshot keeps nothing from being pruned.
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
      AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
UNION ALL
SELECT 'oldest_snapshot_pid', coalesce((array_agg(pid ORDER BY xact_start))[1]::text, '')
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
      AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
UNION ALL
SELECT 'lossy_standbys',
       CASE WHEN count(*) > count(state) THEN NULL
            WHEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) > 0 THEN '0'
            ELSE (count(*) FILTER (WHERE state IN ('streaming', 'catchup')))::text END
FROM pg_stat_replication
-- A subscriber or a change data capture, which only reads changes, is never promoted.
WHERE pid NOT IN (SELECT active_pid FROM pg_replication_slots
                  WHERE slot_type = 'logical' AND active_pid IS NOT NULL)
UNION ALL
SELECT 'inactive_slots', coalesce(string_agg(slot_name::text, ', ' ORDER BY slot_name), '')
FROM pg_replication_slots
WHERE NOT active AND (restart_lsn IS NOT NULL OR xmin IS NOT NULL OR catalog_xmin IS NOT NULL)
UNION ALL
SELECT 'provider_roles', coalesce(string_agg(rolname::text, ', ' ORDER BY rolname), '')
FROM pg_roles
WHERE rolname IN ('rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin');

-- name: doctor_rights
-- $1 the tables that a client writes, $2 the meta table, $3 the lock table, $4 the recordings, $5 the history. A role
-- that may not use locks need not write their history. Nothing is absent for an owner or a superuser.
SELECT 'unreadable_tables' AS fact,
       coalesce(string_agg(c.relname::text, ', ' ORDER BY c.relname), '') AS value
FROM pg_class AS c
WHERE c.oid IN (SELECT to_regclass(t) FROM unnest($1::text[] || $2::text) AS t)
  AND NOT has_table_privilege(c.oid, 'SELECT')
UNION ALL
SELECT 'unwritable_tables', coalesce(string_agg(c.relname::text, ', ' ORDER BY c.relname), '')
FROM pg_class AS c
WHERE c.oid IN (SELECT to_regclass(t) FROM unnest($1::text[]) AS t)
      AND NOT (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
               AND has_table_privilege(c.oid, 'DELETE'))
   OR c.oid = to_regclass($2::text) AND NOT has_table_privilege(c.oid, 'UPDATE')
UNION ALL
SELECT 'history_rights', coalesce(string_agg(c.relname::text, ', ' ORDER BY c.relname), '')
FROM pg_class AS c
WHERE c.oid IN (to_regclass($4::text), to_regclass($5::text)) AND NOT has_table_privilege(c.oid, 'SELECT')
   OR c.oid = to_regclass($5::text) AND has_table_privilege(to_regclass($3::text), 'UPDATE')
      AND NOT (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
               AND has_table_privilege(c.oid, 'DELETE'))
UNION ALL
SELECT 'is_owner', coalesce(bool_or(relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)), false)::text
FROM pg_class
WHERE oid = to_regclass($2::text)
UNION ALL
SELECT 'strong_clients', coalesce(string_agg(DISTINCT r.rolname::text, ', '), '')
FROM pg_stat_activity AS a
JOIN pg_roles AS r ON r.oid = a.usesysid
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.application_name LIKE 'rowlock%'
  AND (r.rolsuper OR r.oid = (SELECT relowner FROM pg_class WHERE oid = to_regclass($2::text)))
UNION ALL
SELECT 'tables_without_autovacuum', coalesce(string_agg(c.relname::text, ', ' ORDER BY c.relname), '')
FROM pg_class AS c
WHERE c.oid IN (SELECT to_regclass(t) FROM unnest($1::text[]) AS t)
  AND c.reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off', 'autovacuum_enabled=0'];

-- name: doctor_leases
SELECT 'dead_leases' AS fact, count(*)::text AS value
FROM rowlock_lease
WHERE expires_at < clock_timestamp() - interval '5 minutes';

-- name: doctor_names
SELECT 'idle_names' AS fact, count(*)::text AS value
FROM rowlock_lock
WHERE lease_id IS NULL AND in_use = 0 AND NOT has_queue AND used_at < clock_timestamp() - interval '30 days';
