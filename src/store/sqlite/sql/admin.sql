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
-- The clock of a new server may be ahead or behind: every lease now expires its own ttl from now.
UPDATE rowlock_lease
   SET expires_at = :now_us + ttl_ms * 1000;

-- name: epoch_clock
-- Seconds since 2026-01-01, which is 1767225600.
SELECT CAST((julianday('now') - 2440587.5) * 86400.0 AS INTEGER) - 1767225600;

-- name: raise_epoch
-- ?1 in seconds; a library of version 1 reads the other column.
UPDATE rowlock_meta SET epoch_s = ?1, epoch = max(epoch, ?1 / :seconds_per_old_epoch) WHERE id = 1;

-- name: change_identity
UPDATE rowlock_meta SET identity = ?1 WHERE id = 1;

-- name: set_skew
UPDATE rowlock_meta SET skew_ms = ?1 WHERE id = 1;
