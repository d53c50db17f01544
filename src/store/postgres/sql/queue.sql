-- name: enqueue_take
-- $1 name, $2 kind, $3 capacity, $4 hold, $5 fairness. Locks the row of a lock that exists as asked and is held,
-- and remembers that it did; for the sub-query see hand_over_take. NO KEY UPDATE does not conflict with the FOR
-- KEY SHARE of a guarded transaction.
SELECT set_config('rowlock.taken', $4::text, true)
FROM (
  SELECT
  FROM rowlock_lock
  WHERE name = $1::text AND kind = $2::text AND capacity = $3::bigint AND fair = $5::boolean
    AND lease_id IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED
) AS taken;

-- name: enqueue
-- Puts a waiter behind the holder of enqueue_take's lock: $1 name, $2 lease, $3 hold, $4 skew in microseconds. An
-- earlier statement has locked the row. A holder that is dead or expired, or whose lease is too long, and a waiter
-- that the lock already knows, are left to an edit. A place in the queue need not be on disk.
WITH counted AS (
  UPDATE rowlock_lock AS l
  SET next_ticket = l.next_ticket + 1,
      has_queue = true
  FROM rowlock_lease AS h
  WHERE l.name = $1::text
    AND current_setting('rowlock.taken', true) = $3::text
    AND l.hold_id <> $3::text::uuid
    AND h.id = l.lease_id
    AND h.expires_at + $4::bigint * interval '1 microsecond' > clock_timestamp()
    AND h.expires_at <= clock_timestamp() + h.ttl_ms * interval '2 milliseconds'
    AND NOT EXISTS (SELECT FROM rowlock_queue AS q WHERE q.name = $1::text AND q.hold_id = $3::text::uuid)
  RETURNING l.next_ticket - 1 AS ticket, l.capacity, h.expires_at
), entered AS (
  INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight)
  SELECT $1::text, ticket, $3::text::uuid, $2::uuid, capacity FROM counted
)
SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint AS takeover_us,
       set_config('synchronous_commit', 'off', true)
FROM counted;

-- name: find
-- name: find_one
-- $1 names, $2 holds; several holds may belong to one name. A hold or waiter whose lease is missing is dead, so it is
-- absent. takeover_us is that of the first lease in the way: the exclusive holder's, or else of the permits and of
-- the first waiter; a lease that is too long counts as due. It is read once for each name. OFFSET 0 makes each
-- look-up by name and hold one look-up of the key, whatever the tables were like when the statement was planned;
-- otherwise each hold would be joined with all holds of its name.
-- find_one is the same statement for one hold: $1 name, $2 hold. It needs no window, which would double its cost.
SELECT a.n,
       coalesce(l.hold_id = a.hold_id AND h.id IS NOT NULL, false) OR p.lease_id IS NOT NULL AS held,
       coalesce(p.token, l.token) AS token,
       coalesce(p.lease_id, l.lease_id) AS lease_id,
       q.lease_id AS queued_lease_id,
       CASE WHEN l.name IS NULL THEN NULL
            WHEN l.lease_id IS NOT NULL
            THEN CASE WHEN h.expires_at <= clock_timestamp() + h.ttl_ms * interval '2 milliseconds'
                      THEN (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint
                      ELSE 0
                 END
            ELSE least(coalesce(min(s.expires_us) OVER of_name, 0), min(f.expires_us) OVER of_name) -- only: find
            -- only: find_one ELSE least(coalesce(s.expires_us, 0), f.expires_us)
       END AS takeover_us,
       l.kind,
       l.capacity,
       l.has_queue,
       l.in_use,
       l.fair,
       coalesce(l.request_token >= coalesce(p.token, l.token), false) AS is_asked_for
FROM (
  SELECT name, hold_id, n, row_number() OVER (PARTITION BY name ORDER BY n) = 1 AS is_first -- only: find
  FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS given (name, hold_id, n) -- only: find
  -- only: find_one SELECT $1::text AS name, $2::uuid AS hold_id, 1 AS n, true AS is_first
) AS a
LEFT JOIN rowlock_lock AS l ON l.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN LATERAL (
  SELECT p.token, p.lease_id
  FROM rowlock_permit AS p
  JOIN rowlock_lease AS w ON w.id = p.lease_id
  WHERE l.lease_id IS NULL AND (l.in_use > 0 OR l.kind = 'barrier') AND p.name = l.name AND p.hold_id = a.hold_id
  OFFSET 0
) AS p ON true
LEFT JOIN LATERAL (
  SELECT min(CASE WHEN w.expires_at <= clock_timestamp() + w.ttl_ms * interval '2 milliseconds'
                  THEN (extract(epoch FROM w.expires_at - clock_timestamp()) * 1000000)::bigint
                  ELSE 0
             END) AS expires_us
  FROM rowlock_permit AS s
  LEFT JOIN rowlock_lease AS w ON w.id = s.lease_id
  WHERE a.is_first AND l.lease_id IS NULL AND l.in_use > 0 AND l.kind <> 'latch' AND s.name = l.name
    -- only: find_one AND p.lease_id IS NULL
) AS s ON true
LEFT JOIN LATERAL (
  SELECT CASE WHEN w.expires_at <= clock_timestamp() + w.ttl_ms * interval '2 milliseconds'
              THEN (extract(epoch FROM w.expires_at - clock_timestamp()) * 1000000)::bigint
              ELSE 0
         END AS expires_us
  FROM rowlock_queue AS f
  LEFT JOIN rowlock_lease AS w ON w.id = f.lease_id
  WHERE a.is_first AND l.lease_id IS NULL AND l.in_use > 0 AND f.name = l.name AND f.ticket >= l.head_ticket
  ORDER BY f.ticket
  LIMIT 1
) AS f ON true
LEFT JOIN LATERAL (
  SELECT w.id AS lease_id
  FROM rowlock_queue AS q
  JOIN rowlock_lease AS w ON w.id = q.lease_id
  WHERE l.has_queue AND q.name = l.name AND q.hold_id = a.hold_id
  OFFSET 0
) AS q ON true
WINDOW of_name AS (PARTITION BY a.name) -- only: find
ORDER BY a.n;

-- name: queue
-- $1 name.
SELECT q.ticket, q.hold_id, q.lease_id, q.weight, q.mode, w.id, w.client_id, w.host, w.pid, w.application, w.ttl_ms,
       w.username, w.program,
       (extract(epoch FROM w.expires_at - clock_timestamp()) * 1000)::bigint AS expires_time
FROM rowlock_lock AS l
JOIN rowlock_queue AS q ON q.name = l.name AND q.ticket >= l.head_ticket
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE l.name = $1::text
ORDER BY q.ticket;

-- name: waited_for
SELECT DISTINCT name FROM rowlock_queue ORDER BY name;

-- name: send_wakeups
-- $1 channels, $2 a payload for each: the hold that was granted, or nothing. NOTIFY holds a lock of the whole server
-- while it commits, so the commit does not wait for the disk.
SELECT pg_notify(channel, payload), set_config('synchronous_commit', 'off', true)
FROM unnest($1::text[], $2::text[]) AS word (channel, payload);
