-- As guard, for a shared hold: the lock's row first, then the permit, by both snapshots.
SELECT 1
FROM rowlock_lock AS l
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = l.name
WHERE l.name = ? AND p.hold_id = UNHEX(?)
  AND EXISTS (SELECT 1 FROM rowlock_permit AS s WHERE s.name = p.name AND s.hold_id = p.hold_id)
LOCK IN SHARE MODE;
