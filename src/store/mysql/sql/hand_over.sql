-- Gives a lock to the head of its queue, if that lives and is exclusive, marks its client's lease, and tells the hold,
-- the client, the token, and whether others may wait behind it. What is not plain is left as it is, for an edit, and
-- nothing is told. MariaDB only.
-- The lock's row comes first; what else decides is read by a later statement, with a snapshot of its own. While the row
-- is held nobody is waited for: a client's lease that is locked, by its renewal, is not marked, and its poll finds the
-- grant.
BEGIN NOT ATOMIC
  DECLARE given BIGINT;
  DECLARE free_ticket BIGINT;
  DECLARE first_ticket BIGINT;
  DECLARE head BIGINT;
  DECLARE next_token BIGINT;
  DECLARE next_hold BINARY(16);
  DECLARE next_lease BINARY(16);
  DECLARE next_client BINARY(16);
  DECLARE at_hand BINARY(16);
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.token, l.next_ticket, l.head_ticket INTO given, free_ticket, first_ticket
  FROM rowlock_lock AS l
  WHERE l.name = :name AND l.kind IN ('mutex', 'shared_mutex', 'election')
    AND l.lease_id = UNHEX(:lease) AND l.hold_id = UNHEX(:hold) AND l.has_queue = 1
  FOR UPDATE SKIP LOCKED;
  IF given IS NOT NULL THEN
    SELECT q.ticket, q.hold_id, q.lease_id, h.client_id,
           IF(h.id IS NULL OR q.mode <> 'exclusive', NULL, GREATEST(given + 1, m.epoch_floor))
    INTO head, next_hold, next_lease, next_client, next_token
    FROM rowlock_queue AS q
    LEFT JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
    LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
    WHERE q.name = :name AND q.ticket >= first_ticket
    ORDER BY q.ticket
    LIMIT 1;
  END IF;
  IF next_token IS NULL THEN
    COMMIT;
  ELSE
    UPDATE rowlock_lock
    SET token = next_token, lease_id = next_lease, hold_id = next_hold, in_use = capacity,
        head_ticket = head + 1, has_queue = free_ticket > head + 1, used_at = SYSDATE(6)
    WHERE name = :name;
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    DELETE FROM rowlock_queue WHERE name = :name AND ticket = head;
    IF next_client <> UNHEX(:lease) THEN
      SELECT h.id INTO at_hand FROM rowlock_lease AS h WHERE h.id = next_client FOR UPDATE SKIP LOCKED;
      UPDATE rowlock_lease SET wakes = wakes + 1 WHERE id = at_hand;
    END IF;
    COMMIT;
    SELECT HEX(next_hold), HEX(next_client), next_token, free_ticket > head + 1;
  END IF;
END;
