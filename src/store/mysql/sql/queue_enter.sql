-- Goes behind the living holder of a lock, and tells how long until that one may be killed. What is not plain (dead,
-- expired, locked, another kind, asked again) is left as it is, for an edit, and nothing is told. MariaDB only.
-- The lock's row comes first; what else decides is read by a later statement, with a snapshot of its own. While the row
-- is held nobody is waited for.
BEGIN NOT ATOMIC
  DECLARE held_by BINARY(16);
  DECLARE my_ticket BIGINT;
  DECLARE takeover_us BIGINT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.lease_id, l.next_ticket INTO held_by, my_ticket
  FROM rowlock_lock AS l
  WHERE l.name = :name AND l.kind = :kind AND l.capacity = :capacity AND l.fair = :fair
    AND l.lease_id IS NOT NULL AND l.hold_id <> UNHEX(:hold)
  FOR UPDATE SKIP LOCKED;
  SELECT TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) INTO takeover_us
  FROM rowlock_lease AS h
  WHERE h.id = held_by AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
    AND NOT EXISTS (SELECT 1 FROM rowlock_queue AS q WHERE q.name = :name AND q.hold_id = UNHEX(:hold));
  IF takeover_us IS NULL THEN
    COMMIT;
  ELSE
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight)
    VALUES (:name, my_ticket, UNHEX(:hold), UNHEX(:lease), :capacity);
    UPDATE rowlock_lock SET next_ticket = my_ticket + 1, has_queue = 1 WHERE name = :name;
    COMMIT;
    SELECT takeover_us;
  END IF;
END;
