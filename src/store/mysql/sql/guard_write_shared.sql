-- As guard_write, for a shared hold.
UPDATE rowlock_permit SET guards = guards + 1 WHERE name = ? AND hold_id = UNHEX(?);
