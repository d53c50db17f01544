-- Frees all of :holds, or none: then one of them is locked, lost or waited for, and the error is that of a locked row.
-- :lease is chosen by the name; :count is how many. MariaDB only.
BEGIN NOT ATOMIC
  START TRANSACTION;
  SET STATEMENT innodb_lock_wait_timeout = 0 FOR
  UPDATE rowlock_lock FORCE INDEX (PRIMARY)
  SET lease_id = NULL, hold_id = NULL, in_use = 0
  WHERE name IN (:names) AND hold_id IN (:holds) AND lease_id = :lease AND NOT (has_queue AND fair);
  IF ROW_COUNT() <> :count THEN
    ROLLBACK;
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'not all of the batch can be freed at once';
  END IF;
  COMMIT;
END;
