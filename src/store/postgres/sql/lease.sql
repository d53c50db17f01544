-- name: create_lease
-- $1 id, $2 client, $3 host, $4 pid, $5 application, $6 ttl in milliseconds, $7 user, $8 program.
-- If it is sent again after a lost answer, it renews the lease. A lease that has expired meanwhile is unchanged, and
-- no row is written.
INSERT INTO rowlock_lease AS l (id, client_id, host, pid, application, ttl_ms, username, program, expires_at)
VALUES ($1::uuid, $2::uuid, $3::text, $4::bigint, $5::text, $6::bigint, $7::text, $8::text,
        clock_timestamp() + $6::bigint * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE
SET expires_at = clock_timestamp() + l.ttl_ms * interval '1 millisecond'
WHERE l.expires_at > clock_timestamp();

-- name: renew
-- $1 leases. Returns the columns of read_database_state, with a row for each renewed lease, and at least one row.
-- The clock is read after all rows are locked, whatever the plan is, because it is read behind an aggregate of the
-- locking step. (The server does not check a WHERE again after a transaction that it waited for rolls back.)
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
),
held AS MATERIALIZED (
  SELECT array_agg(id) AS ids, clock_timestamp() AS now FROM taken
),
renewed AS (
  UPDATE rowlock_lease AS l
  SET expires_at = held.now + l.ttl_ms * interval '1 millisecond'
  FROM held
  WHERE l.id = ANY (held.ids) AND l.expires_at > held.now
  RETURNING l.id, l.notice
)
SELECT (SELECT system_identifier FROM pg_control_system()) || '/'
         || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS identity,
       m.identity AS recorded_identity,
       m.epoch_floor,
       coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker,
       m.skew_ms,
       m.recordings,
       r.id,
       r.notice
FROM rowlock_meta AS m
LEFT JOIN renewed AS r ON true
WHERE m.id = 1;

-- name: kill
-- $1 leases, $2 skew in microseconds. A locked row is being renewed or killed, so it is skipped. If meta does not
-- name this server, nothing is changed: its clock may be another one. As in renew, the deciding clock is read after
-- the rows are locked. No lease is both expired and too long, so each row is written once.
WITH recorded_server AS MATERIALIZED (
  SELECT id
  FROM rowlock_meta
  WHERE id = 1
    AND identity = (SELECT system_identifier FROM pg_control_system()) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT id
  FROM rowlock_lease
  WHERE (SELECT count(*) FROM recorded_server) = 1
    AND id = ANY ($1::uuid[])
    AND (expires_at + $2::bigint * interval '1 microsecond' <= clock_timestamp()
         OR expires_at > clock_timestamp() + ttl_ms * interval '1 millisecond' + $2::bigint * interval '1 microsecond')
  ORDER BY id
  FOR UPDATE SKIP LOCKED
),
held AS MATERIALIZED (
  SELECT array_agg(id) AS ids, clock_timestamp() AS now FROM taken
),
shortened AS (
  UPDATE rowlock_lease AS l
  SET expires_at = held.now + l.ttl_ms * interval '1 millisecond'
  FROM held
  WHERE l.id = ANY (held.ids)
    AND l.expires_at > held.now + l.ttl_ms * interval '1 millisecond' + $2::bigint * interval '1 microsecond'
)
DELETE FROM rowlock_lease AS l
USING held
WHERE l.id = ANY (held.ids) AND l.expires_at + $2::bigint * interval '1 microsecond' <= held.now
RETURNING l.id;

-- name: end
-- $1 leases, ended by their owner.
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
)
DELETE FROM rowlock_lease AS l USING taken AS t WHERE l.id = t.id;

-- name: read_held
-- Reads the next names, and what stands on a client's leases there. The row without a hold names the last of them if
-- there may be more. $1 client, $2 after which name, $3 how many names.
WITH page AS MATERIALIZED (
  SELECT l.name, l.hold_id, l.lease_id
  FROM rowlock_lock AS l
  WHERE l.name > $2::text
  ORDER BY l.name
  LIMIT $3::bigint
), ends AS MATERIALIZED (
  SELECT max(name) AS name, count(*) AS names FROM page
)
SELECT e.name, NULL::uuid AS hold_id, NULL::uuid AS lease_id, 'exclusive' AS mode, false AS queued
FROM ends AS e
WHERE e.names = $3::bigint
UNION ALL
SELECT l.name, l.hold_id, l.lease_id, 'exclusive', false
FROM page AS l JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE h.client_id = $1::uuid
UNION ALL
SELECT p.name, p.hold_id, p.lease_id, 'shared', false
FROM rowlock_permit AS p JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE p.name > $2::text AND p.name <= (SELECT name FROM ends) AND h.client_id = $1::uuid
UNION ALL
SELECT q.name, q.hold_id, q.lease_id, q.mode, true
FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name > $2::text AND q.name <= (SELECT name FROM ends) AND w.client_id = $1::uuid;

-- name: find_stale_leases
-- $1 skew in microseconds, $2 limit.
SELECT id
FROM rowlock_lease
WHERE expires_at + $1::bigint * interval '1 microsecond' <= clock_timestamp()
   OR expires_at > clock_timestamp() + ttl_ms * interval '1 millisecond' + $1::bigint * interval '1 microsecond'
ORDER BY expires_at
LIMIT $2::bigint;

-- name: find_stale_names
-- A page of at most $2 locks after the name $1: those that name a missing lease, as holder or in the queue, and
-- the last one of the page; if there are more, the next page starts behind it. The permits of a latch outlive
-- their leases.
WITH page AS MATERIALIZED (
  SELECT name, kind, lease_id, has_queue, head_ticket
  FROM rowlock_lock
  WHERE name > $1::text
  ORDER BY name
  LIMIT $2::bigint
),
judged AS (
  SELECT l.name,
         l.lease_id IS NOT NULL AND NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = l.lease_id)
         OR l.has_queue AND EXISTS (
           SELECT
           FROM rowlock_queue AS q
           LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
           WHERE q.name = l.name AND q.ticket >= l.head_ticket AND w.id IS NULL
         )
         OR l.kind <> 'latch' AND EXISTS (
           SELECT
           FROM rowlock_permit AS p
           LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
           WHERE p.name = l.name AND h.id IS NULL
         ) AS is_stale
  FROM page AS l
)
SELECT name, is_stale, (SELECT count(*) FROM page) = $2::bigint AS more
FROM judged
WHERE is_stale OR name = (SELECT max(name) FROM page)
ORDER BY name;
