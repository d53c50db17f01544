-- Drops the history, and what leases say of users and programs. It can be run again when it was interrupted after any
-- statement.
SET SESSION lock_wait_timeout = 5;

-- First: whoever finds a part of the schema gone sees the version that lacks it.
UPDATE rowlock_meta SET schema_version = 2 WHERE id = 1;

DROP TABLE IF EXISTS rowlock_history;

DROP TABLE IF EXISTS rowlock_recording;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'recordings') = 1,
  'ALTER TABLE rowlock_meta DROP COLUMN recordings',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_lease' AND column_name = 'username') = 1,
  'ALTER TABLE rowlock_lease DROP COLUMN username, DROP COLUMN program',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET SESSION lock_wait_timeout = DEFAULT;
