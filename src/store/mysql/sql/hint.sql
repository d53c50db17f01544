-- As hints, for one client: what a process asks while it waits.
SELECT wakes + notice FROM rowlock_lease WHERE id = UNHEX(:lease);
