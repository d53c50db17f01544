-- As guard_read, for a shared hold.
SELECT 1 FROM rowlock_permit WHERE name = ? AND hold_id = UNHEX(?);
