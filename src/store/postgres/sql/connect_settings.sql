-- Pins what our statements rely on, and what changes what a statement means, for a role or a database may have
-- settings of its own. $1 application_name, $2 schema or '', $3 timeout in milliseconds, $4 only for the transaction. Sent
-- after connecting, for a pooler drops start-up options; behind one that changes the session, with each transaction. A weaker synchronous_commit is raised to on. Of a server of before a
-- setting was added, it is left out.
SELECT set_config('application_name', $1::text, $4::boolean),
       set_config('client_encoding', 'UTF8', $4::boolean),
       set_config('client_min_messages', 'error', $4::boolean),
       set_config('exit_on_error', 'off', $4::boolean),
       -- What texts mean.
       set_config('standard_conforming_strings', 'on', $4::boolean),
       set_config('escape_string_warning', 'off', $4::boolean),
       set_config('array_nulls', 'on', $4::boolean),
       set_config('bytea_output', 'hex', $4::boolean),
       set_config('DateStyle', 'ISO', $4::boolean),
       set_config('IntervalStyle', 'postgres', $4::boolean),
       set_config('TimeZone', 'UTC', $4::boolean),
       set_config('extra_float_digits', '1', $4::boolean),
       set_config('xmloption', 'content', $4::boolean),
       -- What a row is compared with. A policy that would hide rows is an error.
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
       -- A statement whose client has gone ends by itself, where the server's system can tell.
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
