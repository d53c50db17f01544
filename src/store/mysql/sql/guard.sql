-- Two parameters, the name and the hold's id in hex. The share lock stays until the caller's transaction ends.
SELECT 1 FROM rowlock_lock WHERE name = ? AND hold_id = UNHEX(?) LOCK IN SHARE MODE;
