-- Back to epochs in steps of 64 seconds, rounded up, so that no token goes back.
SET lock_timeout = '5s';

ALTER TABLE rowlock_lock DROP COLUMN IF EXISTS head_ticket;

UPDATE rowlock_meta SET schema_version = 1, epoch = (epoch_floor + 134217727) / 134217728 WHERE id = 1;

ALTER TABLE rowlock_meta
  DROP COLUMN IF EXISTS epoch_floor,
  DROP COLUMN IF EXISTS epoch_s,
  DROP COLUMN IF EXISTS skew_ms;

RESET lock_timeout;
