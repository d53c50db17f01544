-- name: read_database_state
-- Shows whether the database is on another server, or in an earlier state, than before.
SELECT (SELECT system_identifier FROM pg_control_system()) || '/'
         || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS identity,
       m.identity AS recorded_identity,
       m.epoch_floor,
       coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker,
       m.skew_ms,
       m.recordings
FROM rowlock_meta AS m
WHERE m.id = 1;

-- name: read_meta
-- read_database_state for a session that only reads. A standby can read neither its own place in the log nor the
-- marker, whose table is unlogged; so the identity of this session is no recorded one.
SELECT '' AS identity, m.identity AS recorded_identity, m.epoch_floor, '' AS marker, m.skew_ms, m.recordings
FROM rowlock_meta AS m
WHERE m.id = 1;

-- name: take_meta
-- Only one transaction at a time passes this statement. The statements after it see what the previous transaction
-- did.
SELECT identity <> (SELECT system_identifier FROM pg_control_system()) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS moved,
       epoch_floor,
       token_floor,
       (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint AS clock_us
FROM rowlock_meta
WHERE id = 1
FOR UPDATE;

-- name: write_marker
-- $1 a fresh random value, used if there is none.
INSERT INTO rowlock_marker (id, value) VALUES (1, $1::text) ON CONFLICT (id) DO NOTHING;

-- name: lengthen_leases
-- The clock of a new server may be ahead or behind: every lease now expires its own ttl from now. Those that
-- expired more than a day ago stay as they are.
WITH taken AS MATERIALIZED (
  SELECT id, expires_at FROM rowlock_lease ORDER BY id FOR NO KEY UPDATE
),
held AS MATERIALIZED (
  SELECT count(*), clock_timestamp() AS now FROM taken
)
UPDATE rowlock_lease AS l
SET expires_at = held.now + l.ttl_ms * interval '1 millisecond'
FROM taken AS t, held
WHERE l.id = t.id
  AND t.expires_at > held.now - interval '1 day';

-- name: raise_epoch
-- $1 the epoch, in seconds; a library of version 1 reads the column `epoch`. $2 the floor, which is finer.
-- This transaction has locked the row.
UPDATE rowlock_meta
SET epoch_s = $1::bigint, epoch = greatest(epoch, $1::bigint / :seconds_per_old_epoch),
    token_floor = greatest(token_floor, $2::bigint)
WHERE id = 1;

-- name: change_identity
-- Records this server. This transaction has locked the row.
UPDATE rowlock_meta
SET identity = (SELECT system_identifier FROM pg_control_system()) || '/'
               || left(pg_walfile_name(pg_current_wal_lsn()), 8)
WHERE id = 1;

-- name: set_skew
-- $1 milliseconds.
UPDATE rowlock_meta SET skew_ms = $1::bigint WHERE id = 1;

-- name: end_ghost
-- $1 pid of a backend, $2 its start in microseconds. No row: that backend has ended. The start of another role's
-- backend is hidden; then the server refuses to end that backend, unless this role may signal it. A backend that waits
-- for its standby is left alone: its commit cannot be undone any more, and without the wait all would see the commit
-- although the standby does not have it.
SELECT CASE WHEN wait_event = 'SyncRep' THEN false ELSE pg_terminate_backend(pid) END
FROM pg_stat_activity
WHERE pid = $1::integer
  AND coalesce((extract(epoch FROM backend_start) * 1000000)::bigint, $2::bigint) = $2::bigint;
