-- Gives a lock to the head of its queue, if that lives, and marks its client's lease, in MariaDB's way of sending
-- several statements at once. handed_over tells what happened; what is not plain is left as it is, for an edit.
-- The lock's row comes first; what else decides is read by a later statement, with a snapshot of its own. The client's
-- lease comes last, for a renewal may hold it for a moment.
BEGIN NOT ATOMIC
  DECLARE given BIGINT;
  DECLARE head BIGINT;
  DECLARE next_hold BINARY(16);
  DECLARE next_lease BINARY(16);
  DECLARE next_client BINARY(16);
  SET @rowlock_token = NULL, @rowlock_more = NULL;
  START TRANSACTION;
  SELECT l.token INTO given
  FROM rowlock_lock AS l
  WHERE l.name = :name AND l.kind = 'mutex' AND l.lease_id = UNHEX(:lease) AND l.hold_id = UNHEX(:hold)
    AND l.has_queue = 1
  FOR UPDATE SKIP LOCKED;
  IF given IS NOT NULL THEN
    SELECT q.ticket, q.hold_id, q.lease_id, h.client_id, GREATEST(given + 1, m.epoch << 27),
           EXISTS (SELECT 1 FROM rowlock_queue AS b WHERE b.name = :name AND b.ticket > q.ticket)
    INTO head, next_hold, next_lease, next_client, @rowlock_token, @rowlock_more
    FROM rowlock_queue AS q
    JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
    JOIN rowlock_lease AS h ON h.id = q.lease_id AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
    WHERE q.name = :name AND q.ticket = (SELECT MIN(f.ticket) FROM rowlock_queue AS f WHERE f.name = :name);
  END IF;
  IF @rowlock_token IS NOT NULL THEN
    UPDATE rowlock_lock
    SET token = @rowlock_token, lease_id = next_lease, hold_id = next_hold, in_use = capacity,
        has_queue = @rowlock_more, used_at = SYSDATE(6)
    WHERE name = :name;
    DELETE FROM rowlock_queue WHERE name = :name AND ticket = head;
    IF next_client <> UNHEX(:lease) THEN
      UPDATE rowlock_lease SET wakes = wakes + 1 WHERE id = next_client;
    END IF;
    SET @rowlock_granted = HEX(next_hold), @rowlock_client = HEX(next_client);
  ELSE
    SET @rowlock_granted = NULL;
  END IF;
  COMMIT;
END;
