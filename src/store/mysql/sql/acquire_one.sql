-- Grants a single lock; its token is the inserted id, which says nothing where no row was matched.
-- The inner query never waits, and what it locked is this statement's own. The key is forced: a small table would be
-- scanned, rivals' locked rows and all. Where meta does not name this server nothing is granted.
UPDATE (
  SELECT k.name
  FROM rowlock_lock AS k
  WHERE k.name = :name AND k.kind = :kind AND k.capacity = :capacity
    AND k.lease_id IS NULL AND k.in_use = 0 AND k.has_queue = 0
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS free
STRAIGHT_JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = free.name
SET l.token = LAST_INSERT_ID(GREATEST(l.token + 1, m.epoch << 27)),
    l.lease_id = UNHEX(:lease),
    l.hold_id = UNHEX(:hold),
    l.in_use = l.capacity,
    l.used_at = SYSDATE(6);
