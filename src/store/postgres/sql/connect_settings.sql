-- Pins what our statements rely on. $1 application_name, $2 schema or '', $3 timeout in milliseconds.
-- Sent after connecting, for a pooler drops start-up options. A weaker synchronous_commit is raised to on.
-- rowlock.system belongs to the server's process: behind a pooler that changes it, it is right or missing.
SELECT set_config('application_name', $1::text, false),
       set_config('client_encoding', 'UTF8', false),
       set_config('client_min_messages', 'error', false),
       set_config('standard_conforming_strings', 'on', false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('statement_timeout', $3::text, false),
       set_config('lock_timeout', $3::text, false),
       set_config('idle_in_transaction_session_timeout', $3::text, false),
       set_config('enable_seqscan', 'off', false),
       set_config('plan_cache_mode', 'force_generic_plan', false),
       set_config('jit', 'off', false),
       set_config('rowlock.system', (SELECT system_identifier::text FROM pg_control_system()), false),
       CASE WHEN $2::text <> '' THEN set_config('search_path', quote_ident($2::text), false) END,
       set_config('synchronous_commit',
                  CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply')
                       THEN current_setting('synchronous_commit') ELSE 'on' END, false);
