-- Removes rowlock's tables and every token with them: a token issued before means nothing afterwards.
-- meta goes last: what was interrupted can then be run again.
SET SESSION lock_wait_timeout = 5;

DROP TABLE IF EXISTS rowlock_marker;
DROP TABLE IF EXISTS rowlock_queue;
DROP TABLE IF EXISTS rowlock_permit;
DROP TABLE IF EXISTS rowlock_lock;
DROP TABLE IF EXISTS rowlock_lease;
DROP TABLE IF EXISTS rowlock_meta;

SET SESSION lock_wait_timeout = DEFAULT;
