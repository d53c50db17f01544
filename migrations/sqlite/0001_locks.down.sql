-- Removes rowlock. The tokens begin again afterwards: old ones may be taken for new.

PRAGMA busy_timeout = 5000;

-- meta goes first: a library that connects meanwhile sees a schema that is not migrated.
DROP TABLE IF EXISTS rowlock_meta;
DROP TABLE IF EXISTS rowlock_marker;
DROP TABLE IF EXISTS rowlock_queue;
DROP TABLE IF EXISTS rowlock_permit;
DROP TABLE IF EXISTS rowlock_lock;
DROP TABLE IF EXISTS rowlock_lease;
