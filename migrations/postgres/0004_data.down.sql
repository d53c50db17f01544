-- Drops the texts of shared and counted holds.
SET lock_timeout = '5s';

UPDATE rowlock_meta SET schema_version = 3 WHERE id = 1;

ALTER TABLE rowlock_permit
  DROP COLUMN IF EXISTS data;

RESET lock_timeout;
