-- Grants a batch: :requests as [name, kind, capacity, lease, hold, fair]. Who was granted is asked by acquired.
UPDATE (
  SELECT k.name, UNHEX(a.lease) AS lease_id, UNHEX(a.hold) AS hold_id
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', kind VARCHAR(32) PATH '$[1]',
                                             capacity BIGINT PATH '$[2]', lease VARCHAR(32) PATH '$[3]',
                                             hold VARCHAR(32) PATH '$[4]', fair TINYINT PATH '$[5]')) AS a
  STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
  WHERE k.kind = a.kind AND k.capacity = a.capacity AND k.fair = a.fair
    AND k.lease_id IS NULL AND k.in_use = 0 AND NOT (k.has_queue AND k.fair)
  LIMIT 1000000
  FOR UPDATE SKIP LOCKED
) AS free
STRAIGHT_JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = free.name
SET l.token = GREATEST(l.token + 1, m.epoch_floor),
    l.lease_id = free.lease_id,
    l.hold_id = free.hold_id,
    l.in_use = l.capacity,
    l.used_at = SYSDATE(6);
