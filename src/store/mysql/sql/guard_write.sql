-- For a Galera cluster, which compares only what is written. Parameters as in guard.
UPDATE rowlock_lock SET guards = guards + 1 WHERE name = ? AND hold_id = UNHEX(?);
