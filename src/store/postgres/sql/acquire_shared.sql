-- Grants a batch of permits. $1 names, $2 kinds, $3 capacities, $4 leases, $5 holds, $6 fairness, $7 weights: arrays of
-- one length. The lock's row decides, as in acquire, and the lock that it takes lives with the FOR KEY SHARE of another
-- reader's guard.
-- Why in_use is right: a row that was written after this statement's snapshot has its new place outside of it, and is
-- left to the slow path. So the row that is counted on here is the newest one, and it is held: of two rivals the one
-- that comes later skips it, or finds it moved. The permits of the snapshot are the newest too, for whoever writes one
-- writes its lock's row with it; so a hold that has a permit is known, and the INSERT cannot fail. count(*) keeps that
-- question one look at the key for each row.
WITH world AS MATERIALIZED (
  SELECT epoch_floor
  FROM rowlock_meta
  WHERE id = 1
    AND identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT l.ctid AS place, a.lease_id, a.hold_id, a.weight
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::uuid[], $6::boolean[], $7::bigint[])
    AS a (name, kind, capacity, lease_id, hold_id, fair, weight)
    ON a.name = l.name AND a.kind = l.kind AND a.capacity = l.capacity AND a.fair = l.fair
  WHERE l.lease_id IS NULL
    AND l.in_use + a.weight <= l.capacity
    AND NOT (l.has_queue AND l.fair)
    AND (SELECT count(*) FROM world) = 1
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
),
granted AS (
  UPDATE rowlock_lock AS l
  SET in_use = l.in_use + t.weight,
      token = greatest(l.token + 1, (SELECT epoch_floor FROM world)),
      used_at = clock_timestamp()
  FROM taken AS t
  WHERE l.ctid = t.place
    AND l.lease_id IS NULL
    AND l.in_use + t.weight <= l.capacity
    AND NOT (l.has_queue AND l.fair)
    AND (SELECT count(*) FROM rowlock_permit AS p WHERE p.name = l.name AND p.hold_id = t.hold_id) = 0
  RETURNING l.name, t.hold_id, t.lease_id, t.weight, l.token
)
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token)
SELECT name, hold_id, lease_id, weight, token FROM granted
RETURNING hold_id, token;
