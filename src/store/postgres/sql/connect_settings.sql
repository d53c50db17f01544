-- Pins what our statements rely on, and what changes what a statement means, for a role or a database may have
-- settings of its own. $1 application_name, $2 schema or '', $3 timeout in milliseconds. Sent after connecting,
-- for a pooler drops start-up options. A weaker synchronous_commit is raised to on. Of a server of before a
-- setting was added, it is left out.
-- rowlock.system belongs to the server's process: behind a pooler that changes it, it is right or missing.
SELECT set_config('application_name', $1::text, false),
       set_config('client_encoding', 'UTF8', false),
       set_config('client_min_messages', 'error', false),
       set_config('exit_on_error', 'off', false),
       -- What texts mean.
       set_config('standard_conforming_strings', 'on', false),
       set_config('escape_string_warning', 'off', false),
       set_config('array_nulls', 'on', false),
       set_config('bytea_output', 'hex', false),
       set_config('DateStyle', 'ISO', false),
       set_config('IntervalStyle', 'postgres', false),
       set_config('TimeZone', 'UTC', false),
       set_config('extra_float_digits', '1', false),
       set_config('xmloption', 'content', false),
       -- What a row is compared with. A policy that would hide rows is an error.
       set_config('transform_null_equals', 'off', false),
       set_config('row_security', 'off', false),
       -- Transactions.
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('default_transaction_deferrable', 'off', false),
       set_config('synchronous_commit',
                  CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply')
                       THEN current_setting('synchronous_commit') ELSE 'on' END, false),
       -- Limits.
       set_config('statement_timeout', $3::text, false),
       set_config('lock_timeout', $3::text, false),
       set_config('idle_in_transaction_session_timeout', $3::text, false),
       CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
            THEN set_config('transaction_timeout', '0', false) END,
       CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
            THEN set_config('idle_session_timeout', '0', false) END,
       -- A statement whose client has gone ends by itself, where the server's system can tell.
       CASE WHEN current_setting('client_connection_check_interval', true) IS NOT NULL
                 AND version() LIKE '%linux%'
            THEN set_config('client_connection_check_interval', ($3::integer / 4)::text, false) END,
       -- Plans.
       set_config('enable_seqscan', 'off', false),
       set_config('enable_indexscan', 'on', false),
       set_config('enable_indexonlyscan', 'on', false),
       set_config('enable_bitmapscan', 'on', false),
       set_config('enable_nestloop', 'on', false),
       set_config('plan_cache_mode', 'force_generic_plan', false),
       set_config('jit', 'off', false),
       set_config('rowlock.system', (SELECT system_identifier::text FROM pg_control_system()), false),
       CASE WHEN $2::text <> '' THEN set_config('search_path', quote_ident($2::text), false) END;
