-- Frees a single lock. A row that a guarded transaction relies on is locked, which is error 1205 at once. MariaDB only.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET lease_id = NULL, hold_id = NULL, in_use = 0
WHERE name = :name AND lease_id = UNHEX(:lease) AND hold_id = UNHEX(:hold) AND NOT (has_queue AND fair);
