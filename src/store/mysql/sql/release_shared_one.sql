-- Frees a permit, and tells so. One that a guarded transaction relies on is locked: it stays, and others of the name go.
-- MariaDB only.
-- The lock's row comes first; the permit is read by a later statement, with a snapshot of its own, and nobody else can
-- change it meanwhile.
BEGIN NOT ATOMIC
  DECLARE used BIGINT;
  DECLARE freed BIGINT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.in_use INTO used
  FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
  WHERE l.name = :name AND NOT (l.has_queue AND l.fair)
  FOR UPDATE SKIP LOCKED;
  IF used IS NOT NULL THEN
    SELECT p.weight INTO freed
    FROM rowlock_permit AS p
    WHERE p.name = :name AND p.hold_id = UNHEX(:hold) AND p.lease_id = UNHEX(:lease);
  END IF;
  IF freed IS NULL THEN
    COMMIT;
  ELSE
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    DELETE FROM rowlock_permit WHERE name = :name AND hold_id = UNHEX(:hold);
    UPDATE rowlock_lock SET in_use = in_use - freed WHERE name = :name;
    COMMIT;
    SELECT HEX(UNHEX(:hold));
  END IF;
END;
