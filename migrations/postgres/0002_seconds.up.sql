-- Epochs in seconds, the head of each queue, and the skew of the database. A library of version 1 works beside it: it
-- raises `epoch`, which counts in steps of 64 seconds, and leaves head_ticket, a lower bound, as it is.
-- It can be run again when it was interrupted between two statements.
SET lock_timeout = '5s';

ALTER TABLE rowlock_meta
  ADD COLUMN IF NOT EXISTS epoch_s bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS epoch_floor bigint
    GENERATED ALWAYS AS (greatest(epoch_s * 2097152, epoch * 134217728)) STORED,
  ADD COLUMN IF NOT EXISTS skew_ms bigint NOT NULL DEFAULT 0;

-- No row of the table is rewritten.
ALTER TABLE rowlock_lock
  ADD COLUMN IF NOT EXISTS head_ticket bigint NOT NULL DEFAULT 0;

RESET lock_timeout;

UPDATE rowlock_meta SET schema_version = 2 WHERE id = 1;
