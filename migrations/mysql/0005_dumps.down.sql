-- Back to a generated column. The marker stays as it is. It can be run again when it was interrupted after any statement.
SET SESSION lock_wait_timeout = 5;

-- First: whoever finds a part of the schema gone sees the version that lacks it.
UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'epoch_floor'
     AND extra NOT LIKE '%GENERATED%') = 1,
  'ALTER TABLE rowlock_meta
     DROP COLUMN epoch_floor,
     ADD COLUMN epoch_floor BIGINT
       GENERATED ALWAYS AS (GREATEST(epoch_s * 2097152, epoch * 134217728)) STORED AFTER epoch_s',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET SESSION lock_wait_timeout = DEFAULT;
