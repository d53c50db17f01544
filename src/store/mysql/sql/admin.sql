-- name: read_database_state
-- Shows whether the database is on another server, or in an earlier state, than before. On MySQL it also returns which
-- server answers and when that was started, because a proxy may have moved the session since it connected.
SELECT m.identity AS recorded_identity, :epoch_floor AS epoch_floor,
       COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker, m.skew_ms,
       m.cluster_seen, m.recordings, :read_only AS is_read_only,
       /*!80000 CONCAT('mysql/', @@server_uuid) */ /*M! NULL */ AS server,
       /*!80000 (SELECT UNIX_TIMESTAMP(NOW()) - CAST(variable_value AS SIGNED)
                 FROM performance_schema.global_status
                 WHERE variable_name = 'Uptime') */ /*M! NULL */ AS up_since
FROM rowlock_meta AS m
WHERE m.id = 1;

-- name: take_meta
-- Only one transaction at a time passes this statement.
SELECT m.identity, :epoch_floor AS epoch_floor, m.token_floor,
       TIMESTAMPDIFF(MICROSECOND, '2026-01-01', SYSDATE(6)) AS clock_us, m.cluster_seen
FROM rowlock_meta AS m
WHERE m.id = 1
FOR UPDATE;

-- name: write_marker
-- :value a fresh random value, used if there is none.
INSERT INTO rowlock_marker (id, value) VALUES (1, :value) ON DUPLICATE KEY UPDATE id = 1;

-- name: lengthen_leases
-- The clock of a new server may be ahead or behind: every lease now expires its own ttl from now. Those that
-- expired more than a day ago stay as they are.
UPDATE rowlock_lease
SET expires_at = SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND
WHERE expires_at > SYSDATE(6) - INTERVAL 1 DAY
ORDER BY id;

-- name: raise_epoch
-- Sets the epoch to :epoch, in seconds; a library of version 1 reads and writes the column `epoch` alone.
-- :above is the floor, which is finer. This transaction has locked the row.
UPDATE rowlock_meta
SET epoch_s = :epoch, epoch_floor = :epoch * :tokens_per_epoch,
    epoch = GREATEST(epoch, :epoch DIV :seconds_per_old_epoch), token_floor = GREATEST(token_floor, :above)
WHERE id = 1;

-- name: change_identity
-- Records this server, and in cluster_seen the present second, or the one after :up_since, in which this node
-- was started, if that is later. A node that is started in that second counts as started later. This
-- transaction has locked the row.
UPDATE rowlock_meta
SET identity = :identity, cluster_seen = GREATEST(:up_since + 1, UNIX_TIMESTAMP(SYSDATE()))
WHERE id = 1;

-- name: set_skew
UPDATE rowlock_meta SET skew_ms = :skew_ms WHERE id = 1;

-- name: end_ghost_find
SELECT host FROM information_schema.processlist WHERE id = :id;

-- name: end_ghost
KILL CONNECTION :id;
