-- Made at 20261123143000.
-- For operators: whose process a lease is of and what it runs, and the history of the names that are recorded. Libraries
-- of earlier versions work beside it: they leave the new columns empty, and record nothing.
-- Each statement here commits by itself, so the file can be run again when it was interrupted after any of them. The
-- version is recorded last.
SET SESSION lock_wait_timeout = 5;

-- No row of a table is rewritten.
SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_lease' AND column_name = 'username') = 0,
  'ALTER TABLE rowlock_lease
     ADD COLUMN username VARBINARY(255) NOT NULL DEFAULT '''',
     ADD COLUMN program VARBINARY(255) NOT NULL DEFAULT ''''',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

SET @rowlock_ddl = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'rowlock_meta' AND column_name = 'recordings') = 0,
  'ALTER TABLE rowlock_meta ADD COLUMN recordings BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE rowlock_ddl FROM @rowlock_ddl;
EXECUTE rowlock_ddl;
DEALLOCATE PREPARE rowlock_ddl;

CREATE TABLE IF NOT EXISTS rowlock_recording (
  pattern VARBINARY(512) NOT NULL,
  keep    BIGINT         NOT NULL,
  age_h   BIGINT         NOT NULL,
  PRIMARY KEY (pattern)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS rowlock_history (
  name        VARBINARY(512)  NOT NULL,
  id          BIGINT          NOT NULL,
  happened_at DATETIME(6)     NOT NULL,
  event       VARBINARY(32)   NOT NULL,
  token       BIGINT          NOT NULL,
  hold_id     BINARY(16)      NOT NULL,
  lease_id    BINARY(16)      NOT NULL,
  detail      VARBINARY(1024) NOT NULL,
  host        VARBINARY(255)  NOT NULL,
  username    VARBINARY(255)  NOT NULL,
  pid         BIGINT          NOT NULL,
  application VARBINARY(1024) NOT NULL,
  program     VARBINARY(255)  NOT NULL,
  PRIMARY KEY (name, id)
) ENGINE = InnoDB;

UPDATE rowlock_meta SET schema_version = 3 WHERE id = 1;

SET SESSION lock_wait_timeout = DEFAULT;
