-- As acquire_shared, for a single request: $1 name, $2 kind, $3 capacity, $4 lease, $5 hold, $6 fairness, $7 weight.
WITH granted AS (
  UPDATE rowlock_lock AS l
  SET in_use = l.in_use + $7::bigint,
      token = greatest(l.token + 1, m.epoch_floor),
      used_at = clock_timestamp()
  FROM rowlock_meta AS m
  WHERE l.ctid = (
      SELECT ctid
      FROM rowlock_lock
      WHERE name = $1::text AND lease_id IS NULL AND in_use + $7::bigint <= capacity AND NOT (has_queue AND fair)
      FOR NO KEY UPDATE SKIP LOCKED
    )
    AND l.kind = $2::text
    AND l.capacity = $3::bigint
    AND l.fair = $6::boolean
    AND l.lease_id IS NULL
    AND l.in_use + $7::bigint <= l.capacity
    AND NOT (l.has_queue AND l.fair)
    AND NOT EXISTS (SELECT FROM rowlock_permit WHERE name = $1::text AND hold_id = $5::uuid)
    AND m.id = 1
    AND m.identity = current_setting('rowlock.system', true) || '/'
                     || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  RETURNING l.name, l.token
)
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token)
SELECT name, $5::uuid, $4::uuid, $7::bigint, token FROM granted
RETURNING hold_id, token;
