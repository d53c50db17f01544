-- name: guard
-- Two parameters: the name and the hold's id. The lock on the row stays until the caller's transaction ends.
SELECT 1 FROM rowlock_lock WHERE name = $1 AND hold_id = $2::uuid FOR KEY SHARE;

-- name: guard_shared
-- As guard, for a shared hold. The permit may be deleted while this waits for the lock's row, and the snapshot would
-- still show it. So the permit is locked as well, after the row: a deleted row cannot be locked.
WITH l AS MATERIALIZED (SELECT name FROM rowlock_lock WHERE name = $1 FOR KEY SHARE)
SELECT 1
FROM rowlock_permit AS p
JOIN l ON l.name = p.name
WHERE p.hold_id = $2::uuid
FOR KEY SHARE OF p;
