-- Made at 20261126004000.
-- So that a dump of MariaDB's tools can be restored into MySQL, which takes no values for a generated column (error 3105):
-- the smallest token that may be granted becomes an ordinary column, which rowlock writes together with the epoch.
-- A library of version 1 works beside it: it raises `epoch` alone, which rowlock reads, too.
-- On MySQL the marker becomes an InnoDB table. A MEMORY table is emptied by a restart, and MySQL writes that into the
-- binary log of a replica as a transaction of its own, which is in the way when the replica is promoted.
-- Each statement here commits by itself, so the file can be run again when it was interrupted after any of them. The
-- version is recorded last.
SET SESSION lock_wait_timeout = 5;

-- The column keeps its value.
SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'epoch_floor'
     AND extra LIKE '%GENERATED%') = 1,
  'ALTER TABLE rowlock_meta MODIFY COLUMN epoch_floor BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET @rowlock_ddl = IF(
  VERSION() LIKE '%MariaDB%',
  'DO 0',
  'ALTER TABLE rowlock_marker ENGINE = InnoDB');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

UPDATE rowlock_meta SET schema_version = 5 WHERE id = 1;

SET SESSION lock_wait_timeout = DEFAULT;
