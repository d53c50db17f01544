-- As guard, on a Galera cluster and before guard_write: by the transaction's snapshot alone, which must not be older
-- than the hold. It locks nothing: two guards of one hold would both have a share lock, and each would wait for the
-- other one to end before it writes.
SELECT 1 FROM rowlock_lock WHERE name = ? AND hold_id = UNHEX(?);
