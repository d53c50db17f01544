-- name: acquire
-- Grants a batch. $1 names, $2 kinds, $3 capacities, $4 leases, $5 holds, $6 fairness: arrays of one length, or with one
-- element, which is meant for all requests; then unnest() yields NULL for the others.
-- The locking step never waits. The conditions are repeated because a row may change between this statement's
-- snapshot and its lock. The new version of such a row is not in the snapshot, so that row is left to the slow path.
-- If meta names another server, nothing is granted. connect_settings sets rowlock.system, because reading the system
-- identifier again would cost as much as the rest of the statement.
WITH recorded_server AS MATERIALIZED (
  SELECT greatest(epoch_floor, token_floor) AS floor
  FROM rowlock_meta
  WHERE id = 1
    AND identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT l.ctid AS place, coalesce(a.lease_id, ($4::uuid[])[1]) AS lease_id, a.hold_id
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::uuid[], $6::boolean[])
    AS a (name, kind, capacity, lease_id, hold_id, fair)
    ON a.name = l.name
      AND l.kind = coalesce(a.kind, ($2::text[])[1])
      AND l.capacity = coalesce(a.capacity, ($3::bigint[])[1])
      AND l.fair = coalesce(a.fair, ($6::boolean[])[1])
  WHERE l.lease_id IS NULL
    AND l.in_use = 0
    AND NOT (l.has_queue AND l.fair)
    AND (SELECT count(*) FROM recorded_server) = 1
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
)
UPDATE rowlock_lock AS l
SET lease_id = t.lease_id,
    hold_id = t.hold_id,
    in_use = l.capacity,
    token = greatest(l.token + 1, (SELECT floor FROM recorded_server)),
    used_at = clock_timestamp()
FROM taken AS t
WHERE l.ctid = t.place
  AND l.lease_id IS NULL
  AND l.in_use = 0
  AND NOT (l.has_queue AND l.fair)
RETURNING l.hold_id, l.token;

-- name: acquire_one
-- As acquire, for a single request: $1 name, $2 kind, $3 capacity, $4 lease, $5 hold, $6 fairness.
UPDATE rowlock_lock AS l
SET lease_id = $4::uuid,
    hold_id = $5::uuid,
    in_use = l.capacity,
    token = greatest(l.token + 1, m.epoch_floor, m.token_floor),
    used_at = clock_timestamp()
FROM rowlock_meta AS m
WHERE l.ctid = (
    SELECT ctid
    FROM rowlock_lock
    WHERE name = $1::text AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
    FOR NO KEY UPDATE SKIP LOCKED
  )
  AND l.kind = $2::text
  AND l.capacity = $3::bigint
  AND l.fair = $6::boolean
  AND l.lease_id IS NULL
  AND l.in_use = 0
  AND NOT (l.has_queue AND l.fair)
  AND m.id = 1
  AND m.identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
RETURNING l.hold_id, l.token;

-- name: acquire_all_take
-- For a script: $1 names, $2 kinds, $3 capacities, $4 fairness, arrays of one length. Locks those rows that acquire would
-- grant, and notes how many there are. It never waits.
SELECT set_config('rowlock.taken', count(*)::text, true)
FROM (
  SELECT l.name
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]) AS a (name, kind, capacity, fair)
    ON a.name = l.name AND a.kind = l.kind AND a.capacity = l.capacity AND a.fair = l.fair
  WHERE l.lease_id IS NULL
    AND l.in_use = 0
    AND NOT (l.has_queue AND l.fair)
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
) AS free;

-- name: acquire_all
-- Behind acquire_all_take: $1 names, $2 leases, $3 holds. Grants all, if all their rows are locked here. This statement has
-- a snapshot of its own, so it sees the versions that are locked, and it waits for nobody.
UPDATE rowlock_lock AS l
SET lease_id = a.lease_id,
    hold_id = a.hold_id,
    in_use = l.capacity,
    token = greatest(l.token + 1, m.epoch_floor, m.token_floor),
    used_at = clock_timestamp()
FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS a (name, lease_id, hold_id), rowlock_meta AS m
WHERE l.name = a.name
  AND current_setting('rowlock.taken')::bigint = cardinality($1::text[])
  AND m.id = 1
  AND m.identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
RETURNING l.hold_id, l.token;

-- name: acquire_shared
-- Grants a batch of permits. $1 names, $2 kinds, $3 capacities, $4 leases, $5 holds, $6 fairness, $7 weights:
-- arrays as in acquire, where a name may occur more than once. As there, the lock's row decides: its requests are
-- granted in their order, up to the first that does not fit. The row lock taken here does not conflict with the
-- FOR KEY SHARE of another reader's guard.
-- Why in_use is right: a row that was written after this statement's snapshot is left to the slow path, because
-- its new version is not in the snapshot. So the row that is counted on is the newest one, and it is locked here.
-- If two statements compete, the later one skips the row or finds that it has moved. The permits in the snapshot
-- are the newest too, because a permit is written together with its lock's row. So a hold that already has a
-- permit is seen, and the INSERT cannot fail. count(*) makes that check one key look-up for each request.
WITH recorded_server AS MATERIALIZED (
  SELECT greatest(epoch_floor, token_floor) AS floor
  FROM rowlock_meta
  WHERE id = 1
    AND identity = current_setting('rowlock.system', true) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT l.ctid AS place, l.name, l.kind, l.capacity, l.fair, l.capacity - l.in_use AS room
  FROM rowlock_lock AS l
  WHERE l.name = ANY ($1::text[])
    AND l.lease_id IS NULL
    AND l.in_use < l.capacity
    AND NOT (l.has_queue AND l.fair)
    AND (SELECT count(*) FROM recorded_server) = 1
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
),
asked AS (
  SELECT t.place, t.name, t.room, coalesce(a.lease_id, ($4::uuid[])[1]) AS lease_id, a.hold_id,
         coalesce(a.weight, ($7::bigint[])[1]) AS weight, a.nr
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::uuid[], $6::boolean[], $7::bigint[])
    WITH ORDINALITY AS a (name, kind, capacity, lease_id, hold_id, fair, weight, nr)
  JOIN taken AS t
    ON t.name = coalesce(a.name, ($1::text[])[1])
      AND t.kind = coalesce(a.kind, ($2::text[])[1])
      AND t.capacity = coalesce(a.capacity, ($3::bigint[])[1])
      AND t.fair = coalesce(a.fair, ($6::boolean[])[1])
  WHERE (SELECT count(*) FROM rowlock_permit AS p WHERE p.name = t.name AND p.hold_id = a.hold_id) = 0
),
in_line AS MATERIALIZED (
  SELECT *, sum(weight) OVER line AS used_up, row_number() OVER line AS nr_of_name
  FROM asked
  WINDOW line AS (PARTITION BY name ORDER BY nr)
),
granted AS (
  UPDATE rowlock_lock AS l
  SET in_use = l.in_use + f.weight,
      token = greatest(l.token, (SELECT floor FROM recorded_server) - 1) + f.holds,
      used_at = clock_timestamp()
  FROM (
    SELECT place, sum(weight)::bigint AS weight, count(*) AS holds
    FROM in_line
    WHERE used_up <= room
    GROUP BY place
  ) AS f
  WHERE l.ctid = f.place
    AND l.lease_id IS NULL
    AND l.in_use + f.weight <= l.capacity
    AND NOT (l.has_queue AND l.fair)
  RETURNING l.name, l.token - f.holds AS token_before
)
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token)
SELECT i.name, i.hold_id, i.lease_id, i.weight, g.token_before + i.nr_of_name
FROM granted AS g
JOIN in_line AS i ON i.name = g.name AND i.used_up <= i.room
RETURNING hold_id, token;

-- name: take_hot_row
-- $1 name, $2 limit in milliseconds. For a script: waits for the lock's row behind the transactions that came
-- before. The statement behind it has a snapshot of its own, so it sees the newest version of the row, which
-- is locked. If the wait takes longer than the limit, it fails with error 55P03. This transaction has locked
-- nothing yet, so nobody waits for it meanwhile.
SELECT
FROM rowlock_lock
WHERE name = $1::text AND set_config('lock_timeout', $2::text, true) IS NOT NULL
FOR NO KEY UPDATE;

-- name: acquire_shared_one
-- As acquire_shared, for a single request: $1 name, $2 kind, $3 capacity, $4 lease, $5 hold, $6 fairness, $7
-- weight.
WITH granted AS (
  UPDATE rowlock_lock AS l
  SET in_use = l.in_use + $7::bigint,
      token = greatest(l.token + 1, m.epoch_floor, m.token_floor),
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
