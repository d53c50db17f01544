-- As guard, for a shared hold: its permit alone is locked, which whoever takes the permit away must lock. While it stands
-- it counts in in_use, so nobody gets the lock alone, and the lock's row is left to others. The inner query reads by the
-- transaction's snapshot.
SELECT 1
FROM rowlock_permit AS p FORCE INDEX (PRIMARY)
WHERE p.name = ? AND p.hold_id = UNHEX(?)
  AND EXISTS (SELECT 1 FROM rowlock_permit AS s WHERE s.name = p.name AND s.hold_id = p.hold_id)
LOCK IN SHARE MODE;
