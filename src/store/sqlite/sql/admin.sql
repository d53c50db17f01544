-- name: read_database_state
-- Shows whether this is another file, or an earlier state of it.
SELECT identity AS recorded_identity, epoch_floor,
       coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker, skew_ms, recordings
  FROM rowlock_meta
 WHERE id = 1;

-- name: write_marker
INSERT INTO rowlock_marker (id, value) VALUES (1, lower(hex(randomblob(16))))
ON CONFLICT (id) DO NOTHING;

-- name: lengthen_leases
-- The clock of a new server may be ahead or behind: every lease now expires its own ttl from now. Those that expired
-- more than a day ago stay as they are.
UPDATE rowlock_lease SET expires_at = :now_us + ttl_ms * 1000 WHERE expires_at > :now_us - 86400000000;

-- name: read_floors
SELECT epoch_floor, token_floor FROM rowlock_meta WHERE id = 1;

-- name: raise_epoch
-- ?1 the epoch, in seconds; a library of version 1 reads the column `epoch`. ?2 the floor, which is finer.
UPDATE rowlock_meta
   SET epoch_s = ?1, epoch = max(epoch, ?1 / :seconds_per_old_epoch), token_floor = max(token_floor, ?2)
 WHERE id = 1;

-- name: raise_floor
-- ?1 the clock's token.
UPDATE rowlock_meta SET token_floor = max(token_floor, ?1 - :new_name_lag) WHERE id = 1 AND epoch_floor > 0;

-- name: change_identity
UPDATE rowlock_meta SET identity = ?1 WHERE id = 1;

-- name: set_skew
UPDATE rowlock_meta SET skew_ms = ?1 WHERE id = 1;
