-- name: connect_backend
-- The backend that this connection has now. libpq knows it too, unless there is a pooler between them.
SELECT pg_backend_pid();

-- name: connect_settings
-- Sets every setting that our statements rely on or that changes the meaning of a statement; a role or a database
-- may have settings of its own. $1 application_name, $2 schema or '', $3 timeout in milliseconds, $4 whether for
-- the transaction only. It is sent after connecting, because a pooler drops start-up options; behind a pooler that
-- changes the session, it is sent with each transaction. A weaker synchronous_commit is raised to on. A setting
-- that an older server does not have is left out.
SELECT set_config('application_name', $1::text, $4::boolean),
       set_config('client_encoding', 'UTF8', $4::boolean),
       set_config('client_min_messages', 'error', $4::boolean),
       set_config('exit_on_error', 'off', $4::boolean),
       -- How texts are read.
       set_config('standard_conforming_strings', 'on', $4::boolean),
       set_config('escape_string_warning', 'off', $4::boolean),
       set_config('array_nulls', 'on', $4::boolean),
       set_config('bytea_output', 'hex', $4::boolean),
       set_config('DateStyle', 'ISO', $4::boolean),
       set_config('IntervalStyle', 'postgres', $4::boolean),
       set_config('TimeZone', 'UTC', $4::boolean),
       set_config('extra_float_digits', '1', $4::boolean),
       set_config('xmloption', 'content', $4::boolean),
       -- How a row is compared. A policy that would hide rows is an error.
       set_config('transform_null_equals', 'off', $4::boolean),
       set_config('row_security', 'off', $4::boolean),
       -- Transactions.
       set_config('default_transaction_isolation', 'read committed', $4::boolean),
       set_config('default_transaction_deferrable', 'off', $4::boolean),
       set_config('synchronous_commit',
                  CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply')
                       THEN current_setting('synchronous_commit') ELSE 'on' END, $4::boolean),
       -- Limits.
       set_config('statement_timeout', $3::text, $4::boolean),
       set_config('lock_timeout', $3::text, $4::boolean),
       set_config('idle_in_transaction_session_timeout', $3::text, $4::boolean),
       CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
            THEN set_config('transaction_timeout', '0', $4::boolean) END,
       CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
            THEN set_config('idle_session_timeout', '0', $4::boolean) END,
       -- Ends a statement whose client has gone, if the server's system can tell.
       CASE WHEN current_setting('client_connection_check_interval', true) IS NOT NULL
                 AND version() LIKE '%linux%'
            THEN set_config('client_connection_check_interval', ($3::integer / 4)::text, $4::boolean) END,
       -- Plans.
       set_config('enable_seqscan', 'off', $4::boolean),
       set_config('enable_indexscan', 'on', $4::boolean),
       set_config('enable_indexonlyscan', 'on', $4::boolean),
       set_config('enable_bitmapscan', 'on', $4::boolean),
       set_config('enable_nestloop', 'on', $4::boolean),
       set_config('plan_cache_mode', 'force_generic_plan', $4::boolean),
       set_config('jit', 'off', $4::boolean),
       set_config('rowlock.system', (SELECT system_identifier::text FROM pg_control_system()), $4::boolean),
       CASE WHEN $2::text <> '' THEN set_config('search_path', quote_ident($2::text), $4::boolean) END;

-- name: connect_facts
-- Describes this connection. $1 schema or '', $2 name of the meta table.
SELECT current_setting('server_version_num')::integer AS version,
       pg_is_in_recovery() AS in_recovery,
       current_setting('default_transaction_read_only')::boolean AS read_only,
       current_setting('synchronous_commit') AS synchronous_commit,
       $1::text = '' OR EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text) AS schema_exists,
       to_regclass($2::text) IS NOT NULL AS has_meta,
       (SELECT min(n.nspname)
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relname = $2::text
          AND (n.nspname = $1::text
               OR $1::text = ''
                  AND n.nspname = ANY (SELECT btrim(s, ' "')
                                       FROM unnest(string_to_array(replace(current_setting('search_path'), '"$user"',
                                                                           current_user), ',')) AS s))
          AND NOT has_schema_privilege(n.oid, 'USAGE')) AS hidden_in,
       pg_backend_pid() AS pid,
       (SELECT (extract(epoch FROM backend_start) * 1000000)::bigint
        FROM pg_stat_get_activity(pg_backend_pid())) AS started_us,
       current_user AS role;

-- name: connect_place
-- Identifies the server and its database.
SELECT system_identifier || '/' || current_database() FROM pg_control_system();

-- name: schema_state
SELECT schema_version, min_library FROM rowlock_meta WHERE id = 1;

-- name: has_table
-- $1 table name. Behind a pooler this runs in one transaction after the wait for another migrator. There
-- to_regclass alone may miss a table that was created meanwhile: a session learns of such changes only when it
-- locks a relation, as it does here with pg_class.
SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1::text));

-- name: other_place
-- $1 the name of the meta table. The schema in which it was found, if a new table would be made in another one.
SELECT n.nspname AS found_in, current_schema() AS made_in
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass($1::text) AND n.nspname IS DISTINCT FROM current_schema();

-- name: has_ledger
-- $1 the ledger's name. A ledger that this role may not read counts as missing, as on MariaDB and MySQL: only
-- the role that migrates may read it.
SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1::text) AND has_table_privilege(oid, 'SELECT'));

-- name: live_leases
SELECT count(*) FROM rowlock_lease WHERE expires_at > clock_timestamp();

-- name: migrate_take
-- $1 prefix. Only one migrator at a time works on these tables, in whatever schema they are.
SELECT true
FROM pg_advisory_lock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));

-- name: migrate_take_transaction
-- As migrate_take, until the transaction ends: $1 prefix.
SELECT pg_advisory_xact_lock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));

-- name: migrate_give
-- $1 prefix.
SELECT pg_advisory_unlock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));

-- name: create_ledger
-- The migrator's own table. It is in no migration file, because those also run without the migrator.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    integer     NOT NULL,
  title      text        NOT NULL,
  checksum   text        NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (version)
);

-- name: read_ledger
SELECT version, title, checksum, to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS applied_at
FROM rowlock_migration
ORDER BY version;

-- name: record
-- $1 version, $2 title, $3 checksum.
INSERT INTO rowlock_migration (version, title, checksum)
VALUES ($1::integer, $2::text, $3::text)
ON CONFLICT (version)
DO UPDATE SET title = excluded.title, checksum = excluded.checksum, applied_at = clock_timestamp();

-- name: forget
-- $1 version.
DELETE FROM rowlock_migration WHERE version = $1::integer;

-- name: describe
-- One row for each column, as in the schema's file.
SELECT c.relname AS table_name, a.attname AS column_name, format_type(a.atttypid, a.atttypmod) AS column_type,
       a.attnotnull AS not_null
FROM unnest(array['rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_meta', 'rowlock_marker',
                  'rowlock_recording', 'rowlock_history'])
  AS t (name)
JOIN pg_class AS c ON c.oid = to_regclass(t.name)
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped;
