-- Removes rowlock's tables and every token with them: a token issued before means nothing afterwards.
SET lock_timeout = '5s';

DROP TABLE IF EXISTS rowlock_marker;
DROP TABLE IF EXISTS rowlock_queue;
DROP TABLE IF EXISTS rowlock_permit;
DROP TABLE IF EXISTS rowlock_lock;
DROP TABLE IF EXISTS rowlock_lease;
DROP TABLE IF EXISTS rowlock_meta;

RESET lock_timeout;
