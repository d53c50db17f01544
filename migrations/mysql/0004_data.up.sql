-- Made at 20261124213500.
-- For the text that a holder attaches to a shared or counted hold. That of an exclusive hold stands in rowlock_lock.value,
-- after the hold's token. Libraries of earlier versions work beside it: they leave the new column empty.
-- Each statement here commits by itself, so the file can be run again when it was interrupted after any of them. The
-- version is recorded last.
SET SESSION lock_wait_timeout = 5;

-- No row of the table is rewritten.
SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_permit' AND column_name = 'data') = 0,
  'ALTER TABLE rowlock_permit ADD COLUMN data LONGBLOB',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;

SET SESSION lock_wait_timeout = DEFAULT;
