-- Frees a single lock. A row that a guarded transaction relies on is locked, and so skipped.
UPDATE (
  SELECT k.name
  FROM rowlock_lock AS k
  WHERE k.name = :name AND k.lease_id = UNHEX(:lease) AND k.hold_id = UNHEX(:hold) AND k.has_queue = 0
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS held
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = held.name
SET l.lease_id = NULL, l.hold_id = NULL, l.in_use = 0;
