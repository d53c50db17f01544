-- Two parameters, the name and the hold's id in hex. The share lock stays until the caller's transaction ends. The
-- inner query reads by the transaction's snapshot: under REPEATABLE READ one that is older than the hold has read what
-- the hold does not protect, and proves nothing.
SELECT 1
FROM rowlock_lock AS l
WHERE l.name = ? AND l.hold_id = UNHEX(?)
  AND EXISTS (SELECT 1 FROM rowlock_lock AS s WHERE s.name = l.name AND s.hold_id = l.hold_id)
LOCK IN SHARE MODE;
