-- Grants a batch. $1 names, $2 kinds, $3 capacities, $4 leases, $5 holds, $6 fairness: arrays of one length.
-- The locking step never waits. The conditions stand twice because the row may have changed between this
-- statement's snapshot and its lock; such a row's new place is not in the snapshot, and it is left to the slow path.
-- Where meta does not name this server nothing is granted. rowlock.system is set by connect_settings: reading the
-- system identifier anew costs as much as the rest of the statement.
WITH world AS MATERIALIZED (
  SELECT epoch_floor
  FROM rowlock_meta
  WHERE id = 1
    AND identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT l.ctid AS place, a.lease_id, a.hold_id
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::uuid[], $6::boolean[])
    AS a (name, kind, capacity, lease_id, hold_id, fair)
    ON a.name = l.name AND a.kind = l.kind AND a.capacity = l.capacity AND a.fair = l.fair
  WHERE l.lease_id IS NULL
    AND l.in_use = 0
    AND NOT (l.has_queue AND l.fair)
    AND (SELECT count(*) FROM world) = 1
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
)
UPDATE rowlock_lock AS l
SET lease_id = t.lease_id,
    hold_id = t.hold_id,
    in_use = l.capacity,
    token = greatest(l.token + 1, (SELECT epoch_floor FROM world)),
    used_at = clock_timestamp()
FROM taken AS t
WHERE l.ctid = t.place
  AND l.lease_id IS NULL
  AND l.in_use = 0
  AND NOT (l.has_queue AND l.fair)
RETURNING l.hold_id, l.token;
