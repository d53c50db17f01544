-- Made at 20261124213500.
-- For the text that a holder attaches to a shared or counted hold. That of an exclusive hold stands in rowlock_lock.value,
-- after the hold's token. Libraries of earlier versions work beside it: they leave the new column empty.
-- It can be run again when it was interrupted between two statements.
SET lock_timeout = '5s';

-- No row of the table is rewritten.
ALTER TABLE rowlock_permit
  ADD COLUMN IF NOT EXISTS data text;

RESET lock_timeout;

UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;
