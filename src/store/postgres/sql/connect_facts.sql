-- What this connection is. $1 schema or '', $2 name of the meta table.
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
          AND (n.nspname = $1::text OR $1::text = '' AND position(n.nspname IN current_setting('search_path')) > 0)
          AND NOT has_schema_privilege(n.oid, 'USAGE')) AS hidden_in,
       pg_backend_pid() AS pid,
       (SELECT (extract(epoch FROM backend_start) * 1000000)::bigint
        FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started_us,
       current_user AS role;
