-- Pins every variable of the session that changes what a statement of ours means, or makes it fail: the server's
-- defaults and init_connect may have set each of them. :timeout_ms and :timeout_s for a statement, 0: none;
-- :lock_wait_s seconds for a lock.
-- Sessions of ours are idle between renewals, which may be hours apart: the server must not close them for that.
-- A table's rows are found by its key, however few they are: a scan would meet rows that somebody has locked, and wait.
-- MariaDB reads JSON_TABLE's columns in the database's character set; those of two bytes a letter give no hex digits.
-- A holder of lock rows waits for nobody on MariaDB; MySQL has no wait shorter than a second.
-- In a transaction nothing of ours is idle for longer than a statement may take; on MySQL see transaction_begins.
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
  innodb_lock_wait_timeout = /*M! :lock_wait_s */ /*!80000 1 */,
  lock_wait_timeout = :lock_wait_s
  /*M! , collation_database = utf8mb4_bin, old_mode = '', join_cache_level = 0, in_predicate_conversion_threshold = 1000,
  query_cache_type = OFF, tmp_disk_table_size = 18446744073709551615, max_statement_time = :timeout_s,
  idle_transaction_timeout = :lock_wait_s, idle_readonly_transaction_timeout = :lock_wait_s,
  idle_write_transaction_timeout = :lock_wait_s */
  /*!80000 , optimizer_switch = 'block_nested_loop=off', max_execution_time = :timeout_ms */;
