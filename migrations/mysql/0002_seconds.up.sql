-- Epochs in seconds, the head of each queue, the skew of the database, and when a cluster was recorded. A library of version 1 works beside it: it
-- raises `epoch`, which counts in steps of 64 seconds, and leaves head_ticket, a lower bound, as it is.
-- Each statement here commits by itself, so the file can be run again when it was interrupted after any of them: MySQL
-- adds no column that may be there already, hence the prepared statements. The version is recorded last.
SET SESSION lock_wait_timeout = 5;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'epoch_floor') = 0,
  'ALTER TABLE rowlock_meta
     ADD COLUMN epoch_s BIGINT NOT NULL DEFAULT 0,
     ADD COLUMN epoch_floor BIGINT
       GENERATED ALWAYS AS (GREATEST(epoch_s * 2097152, epoch * 134217728)) STORED,
     ADD COLUMN skew_ms BIGINT NOT NULL DEFAULT 0,
     ADD COLUMN cluster_seen BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

-- No row of the table is rewritten.
SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_lock' AND column_name = 'head_ticket') = 0,
  'ALTER TABLE rowlock_lock ADD COLUMN head_ticket BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

UPDATE rowlock_meta SET schema_version = 2 WHERE id = 1;

SET SESSION lock_wait_timeout = DEFAULT;
