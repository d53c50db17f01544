-- Grants a permit, and tells its token. What does not fit is left as it is, for an edit, and nothing is told. MariaDB
-- only.
-- The lock's row comes first, and one that is locked is skipped, by the guard of another reader too; what else decides
-- is read by a later statement, with a snapshot of its own. A permit changes only under its lock's row, so the INSERT
-- meets none of that hold; what it may meet is a gap that somebody's guard has locked, and it does not wait for that.
BEGIN NOT ATOMIC
  DECLARE given BIGINT;
  DECLARE next_token BIGINT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.token INTO given
  FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
  WHERE l.name = :name AND l.kind = :kind AND l.capacity = :capacity AND l.fair = :fair
    AND l.lease_id IS NULL AND l.in_use + :weight <= l.capacity AND NOT (l.has_queue AND l.fair)
  FOR UPDATE SKIP LOCKED;
  IF given IS NOT NULL THEN
    SELECT GREATEST(given + 1, m.epoch_floor) INTO next_token
    FROM rowlock_meta AS m
    WHERE m.id = 1 AND m.identity = :identity
      AND NOT EXISTS (SELECT 1 FROM rowlock_permit AS p WHERE p.name = :name AND p.hold_id = UNHEX(:hold));
  END IF;
  IF next_token IS NULL THEN
    COMMIT;
  ELSE
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
    VALUES (:name, UNHEX(:hold), UNHEX(:lease), :weight, next_token, SYSDATE(6));
    UPDATE rowlock_lock SET in_use = in_use + :weight, token = next_token, used_at = SYSDATE(6) WHERE name = :name;
    COMMIT;
    SELECT next_token;
  END IF;
END;
