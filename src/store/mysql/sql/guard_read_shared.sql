-- As guard_read, for a shared hold. The lock's row is locked, so that a release on this node skips it and waits for no
-- permit that guard_write has changed; the permit is read without a lock.
SELECT 1
FROM rowlock_lock AS l
WHERE l.name = ? AND EXISTS (SELECT 1 FROM rowlock_permit AS p WHERE p.name = l.name AND p.hold_id = UNHEX(?))
LOCK IN SHARE MODE;
