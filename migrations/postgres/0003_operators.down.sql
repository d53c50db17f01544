-- Drops the history, and what leases say of users and programs.
SET lock_timeout = '5s';

UPDATE rowlock_meta SET schema_version = 2 WHERE id = 1;

DROP TABLE IF EXISTS rowlock_history;

DROP TABLE IF EXISTS rowlock_recording;

ALTER TABLE rowlock_meta DROP COLUMN IF EXISTS recordings;

ALTER TABLE rowlock_lease
  DROP COLUMN IF EXISTS username,
  DROP COLUMN IF EXISTS program;

RESET lock_timeout;
