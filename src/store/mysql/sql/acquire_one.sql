-- Grants a single lock; its token is the inserted id, which says nothing where no row was matched. MariaDB only.
-- It waits for nobody, so that what it reads of meta is as old as the row: a locked row is error 1205 at once. The key
-- is forced: a small table would be scanned, rivals' locked rows and all. Where meta does not name this server nothing
-- is granted.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET token = LAST_INSERT_ID(GREATEST(token + 1, (SELECT m.epoch_floor FROM rowlock_meta AS m WHERE m.id = 1))),
    lease_id = UNHEX(:lease),
    hold_id = UNHEX(:hold),
    in_use = capacity,
    used_at = SYSDATE(6)
WHERE name = :name AND kind = :kind AND capacity = :capacity AND fair = :fair
  AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
  AND (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :identity;
