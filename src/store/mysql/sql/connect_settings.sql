-- Pins what our statements rely on. :timeout_ms for a statement, 0: none; :lock_wait_s seconds for a lock.
-- Sessions of ours are idle between renewals, which may be hours apart: the server must not close them for that.
-- A table's rows are found by its key, however few they are: a scan would meet rows that somebody has locked, and wait.
-- In a transaction nothing of ours is idle for longer than a statement may take; MySQL has no limit for that.
SET SESSION autocommit = 1,
  time_zone = '+00:00',
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO',
  sql_safe_updates = 0,
  sql_select_limit = 18446744073709551615,
  sql_auto_is_null = 0,
  group_concat_max_len = 4194304,
  wait_timeout = 90000,
  interactive_timeout = 90000,
  innodb_lock_wait_timeout = :lock_wait_s,
  lock_wait_timeout = :lock_wait_s
  /*M! , join_cache_level = 0, max_statement_time = :timeout_ms / 1000, idle_transaction_timeout = :lock_wait_s */
  /*!80000 , optimizer_switch = 'block_nested_loop=off' */;
