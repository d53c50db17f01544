-- Back to epochs in steps of 64 seconds, rounded up, so that no token goes back. It can be run again when it was
-- interrupted after any statement.
SET SESSION lock_wait_timeout = 5;

-- First: a library that connects meanwhile sees a schema that is not migrated.
UPDATE rowlock_meta SET schema_version = 1 WHERE id = 1;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_lock' AND column_name = 'head_ticket') = 1,
  'ALTER TABLE rowlock_lock DROP COLUMN head_ticket',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'epoch_floor') = 1,
  'UPDATE rowlock_meta SET epoch = (epoch_floor + 134217727) DIV 134217728 WHERE id = 1',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'epoch_floor') = 1,
  'ALTER TABLE rowlock_meta DROP COLUMN epoch_floor, DROP COLUMN epoch_s, DROP COLUMN skew_ms, DROP COLUMN cluster_seen',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET SESSION lock_wait_timeout = DEFAULT;
