-- name: guard
-- Two parameters: the name and the hold's id in hex. The share lock stays until the caller's transaction ends. The
-- inner query reads the transaction's snapshot. Under REPEATABLE READ a snapshot that is older than the hold
-- contains reads that the hold does not protect; such a snapshot proves nothing.
SELECT 1
FROM rowlock_lock AS l
WHERE l.name = ? AND l.hold_id = UNHEX(?)
  AND EXISTS (SELECT 1 FROM rowlock_lock AS s WHERE s.name = l.name AND s.hold_id = l.hold_id)
LOCK IN SHARE MODE;

-- name: guard_shared
-- As guard, for a shared hold. It locks the permit alone; any statement that removes the permit must lock it too.
-- The permit counts in in_use while it stands, so nobody can get the lock exclusively, and the lock's row stays
-- free for others. The inner query reads the transaction's snapshot.
SELECT 1
FROM rowlock_permit AS p FORCE INDEX (PRIMARY)
WHERE p.name = ? AND p.hold_id = UNHEX(?)
  AND EXISTS (SELECT 1 FROM rowlock_permit AS s WHERE s.name = p.name AND s.hold_id = p.hold_id)
LOCK IN SHARE MODE;

-- name: guard_read
-- As guard, where guard_write follows. It reads only the transaction's snapshot, which must not
-- be older than the hold. It locks nothing: with a share lock, two guards of one hold would each wait for the
-- other one to end before they write.
SELECT 1 FROM rowlock_lock WHERE name = ? AND hold_id = UNHEX(?);

-- name: guard_read_shared
-- As guard_read, for a shared hold.
SELECT 1 FROM rowlock_permit WHERE name = ? AND hold_id = UNHEX(?);

-- name: guard_write
-- For a Galera cluster and for a group with several primaries, which compare only what transactions write. Parameters
-- as in guard.
UPDATE rowlock_lock SET guards = guards + 1 WHERE name = ? AND hold_id = UNHEX(?);

-- name: guard_write_shared
-- As guard_write, for a shared hold.
UPDATE rowlock_permit SET guards = guards + 1 WHERE name = ? AND hold_id = UNHEX(?);
