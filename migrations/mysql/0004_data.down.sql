-- Drops the texts of shared and counted holds. It can be run again when it was interrupted after any statement.
SET SESSION lock_wait_timeout = 5;

-- First: whoever finds a part of the schema gone sees the version that lacks it.
UPDATE rowlock_meta SET schema_version = 3 WHERE id = 1;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_permit' AND column_name = 'data') = 1,
  'ALTER TABLE rowlock_permit DROP COLUMN data',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET SESSION lock_wait_timeout = DEFAULT;
