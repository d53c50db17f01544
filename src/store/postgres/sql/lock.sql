-- name: create
-- $1 names, $2 kinds, $3 capacities, $4 fairness, $5 delays. In name order: two transactions that create the same
-- names then wait for each other in one direction only. create_tokens follows in the same transaction.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms)
SELECT name, kind, capacity, fair, delay_ms
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::bigint[])
  AS a (name, kind, capacity, fair, delay_ms)
ORDER BY name COLLATE "C"
ON CONFLICT (name) DO NOTHING;

-- name: create_tokens
-- $1 names. A statement after the INSERT: a collection may have deleted the same name while the INSERT waited
-- for it, and only a later statement sees the floor that the collection raised. Only rows of this transaction
-- have no token yet. The clock keeps the tokens above those of a row that somebody has deleted.
UPDATE rowlock_lock AS l
SET token = greatest(
      m.token_floor, m.epoch_floor,
      (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * :tokens_per_epoch)::bigint
      - :new_name_lag)
FROM rowlock_meta AS m
WHERE l.name = ANY ($1::text[]) AND l.token = 0 AND m.id = 1;

-- name: edit_guard
-- $1 names. Locks the rows that nobody else has locked, not even the FOR KEY SHARE of a guarded transaction, and remembers
-- them for the statements of this transaction. Only in these may an edit replace the exclusive hold, and none of their
-- permits is guarded.
-- It comes before edit_take, because a row that this transaction had first locked FOR NO KEY UPDATE, beside a guarded
-- transaction, would be replaced without a trace: a guard with an older snapshot follows the row's versions by their
-- lockers, of which it would find two that do not concern it, the other guard and NO KEY UPDATE, and would take the
-- version in its snapshot for the latest one.
SELECT set_config('rowlock.replaceable', coalesce(array_agg(name), '{}')::text, true)
FROM (
  SELECT name FROM rowlock_lock WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE SKIP LOCKED
) AS free;

-- name: edit_take
-- $1 names. Locks the others that only guarded transactions have locked, and remembers all rows that are locked now.
-- NO KEY UPDATE does not conflict with the FOR KEY SHARE of a guarded transaction: a waiter can enter the queue
-- beside it. Without edit_guard before it in the same transaction, this statement fails. It also locks rows that a rival
-- had locked a moment ago; edit_read leaves those out.
SELECT set_config('rowlock.rows',
                  (current_setting('rowlock.replaceable')::text[] || coalesce(array_agg(name), '{}'))::text, true)
FROM (
  SELECT name
  FROM rowlock_lock
  WHERE name = ANY ($1::text[]) AND name <> ALL (current_setting('rowlock.replaceable')::text[])
  ORDER BY name
  FOR NO KEY UPDATE SKIP LOCKED
) AS taken;

-- name: edit_guard_permits
-- name: edit_guard_permit
-- Finds on which permits of the other rows no guarded transaction relies. These permits are locked, so that
-- none can rely on them before this transaction ends. edit_guard_permit looks at the permits of the holds $1
-- alone.
SELECT set_config('rowlock.loose', coalesce(array_agg(hold_id), '{}')::text, true)
FROM (
  SELECT hold_id
  FROM rowlock_permit
  WHERE name = ANY (ARRAY (
    SELECT unnest(current_setting('rowlock.rows')::text[])
    EXCEPT
    SELECT unnest(current_setting('rowlock.replaceable')::text[])
  ))
    AND hold_id = ANY ($1::uuid[]) -- only: edit_guard_permit
  FOR UPDATE SKIP LOCKED
) AS free;

-- name: edit_read
-- Reads what an edit decides from, after its rows are locked. $1 names, $2 holds asked about, $3 the holds
-- whose permits are read, as the text of an array, or NULL for all permits, $4 how much is wanted.
-- part 0: the lock and its holder's lease; 1: the head of its queue; 2: the waiter that was asked about; 3:
-- the lock's permits, where each hold in $3 costs one look-up, however many permits there are; 4: the sum of
-- all permits, if store::needs_sum says so. For OFFSET 0 see find.
-- If xmax is this transaction, nobody else has a lock on the row. Such a row is not guarded, so a rival had locked it when
-- edit_guard came, and it counts as locked.
WITH asked AS MATERIALIZED (
  SELECT a.n,
         a.name,
         a.about,
         a.permits_of::uuid[] AS permits_of,
         a.wanted,
         a.name = ANY (current_setting('rowlock.replaceable')::text[])
           OR (a.name = ANY (current_setting('rowlock.rows')::text[])
               AND (SELECT xmax::text::bigint FROM rowlock_lock WHERE name = a.name)
                   <> txid_current() % 4294967296) AS taken,
         a.name = ANY (current_setting('rowlock.replaceable')::text[]) AS replaceable
  FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[]) WITH ORDINALITY AS a (name, about, permits_of, wanted, n)
),
recorded_server AS MATERIALIZED (
  SELECT greatest(epoch_floor, token_floor) AS epoch_floor,
         identity = (SELECT system_identifier FROM pg_control_system()) || '/'
                    || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS is_recorded_server
  FROM rowlock_meta
  WHERE id = 1
)
SELECT 0 AS part, a.n, NULL::bigint AS ticket, l.lease_id, l.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint AS expires_us, h.ttl_ms,
       NULL::bigint AS weight, NULL::text AS mode, l.token,
       l.name IS NOT NULL AS found, a.taken, a.replaceable,
       l.kind, l.capacity, l.in_use, l.has_queue, l.fair, l.delay_ms, w.epoch_floor, w.is_recorded_server,
       l.next_ticket, l.head_ticket
FROM asked AS a
CROSS JOIN recorded_server AS w
LEFT JOIN rowlock_lock AS l ON l.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
UNION ALL
SELECT 1, a.n, q.ticket, q.lease_id, q.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint, h.ttl_ms,
       q.weight, q.mode, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
JOIN rowlock_lock AS l ON l.name = a.name
CROSS JOIN LATERAL (
  SELECT ticket, lease_id, hold_id, weight, mode
  FROM rowlock_queue
  WHERE name = a.name AND ticket >= l.head_ticket
  ORDER BY ticket
  LIMIT :queue_read_limit
) AS q
LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id
WHERE a.taken
UNION ALL
SELECT 2, a.n, q.ticket, q.lease_id, q.hold_id, NULL, NULL, NULL,
       q.weight, q.mode, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
CROSS JOIN LATERAL (
  SELECT ticket, lease_id, hold_id, weight, mode
  FROM rowlock_queue
  WHERE name = a.name AND hold_id = a.about
  OFFSET 0
) AS q
WHERE a.taken
UNION ALL
SELECT 3, a.n, NULL, p.lease_id, p.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint, h.ttl_ms,
       p.weight, NULL, p.token,
       NULL, NULL, a.replaceable OR p.hold_id = ANY (current_setting('rowlock.loose')::uuid[]),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
CROSS JOIN LATERAL (
  SELECT lease_id, hold_id, weight, token FROM rowlock_permit WHERE a.permits_of IS NULL AND name = a.name
  UNION ALL
  SELECT g.lease_id, g.hold_id, g.weight, g.token
  FROM unnest(a.permits_of) AS k (hold_id)
  CROSS JOIN LATERAL (
    SELECT lease_id, hold_id, weight, token FROM rowlock_permit WHERE name = a.name AND hold_id = k.hold_id OFFSET 0
  ) AS g
) AS p
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE a.taken
UNION ALL
SELECT 4, a.n, NULL, NULL, NULL, NULL, s.expires_us, NULL,
       s.weight, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
JOIN rowlock_lock AS l ON l.name = a.name
CROSS JOIN LATERAL (
  SELECT coalesce(sum(p.weight), 0)::bigint AS weight,
         coalesce(min(CASE WHEN h.expires_at <= clock_timestamp() + h.ttl_ms * interval '1 millisecond'
                           THEN (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint
                           ELSE 0
                      END), 0) AS expires_us
  FROM (SELECT lease_id, sum(weight) AS weight FROM rowlock_permit WHERE name = a.name GROUP BY lease_id) AS p
  LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
) AS s
WHERE a.taken AND a.permits_of IS NOT NULL AND a.wanted > 0 AND l.lease_id IS NULL AND l.in_use > 0
  AND (l.has_queue OR l.in_use + a.wanted > l.capacity)
ORDER BY part, n, ticket, token;

-- name: edit_read_data
-- $1 name, $2 hold: what its holder says of it, as it is stored. This transaction has locked the row.
SELECT value AS data FROM rowlock_lock WHERE name = $1::text AND hold_id = $2::uuid
UNION ALL
SELECT data FROM rowlock_permit WHERE name = $1::text AND hold_id = $2::uuid;

-- name: edit_write_lock
-- $1 names and the values of their rows, all of which this transaction has locked; $10 whether the holder is new.
-- A lock keeps its kind.
UPDATE rowlock_lock AS l
SET capacity = c.capacity,
    in_use = c.in_use,
    token = c.token,
    next_ticket = c.next_ticket,
    lease_id = c.lease_id,
    hold_id = c.hold_id,
    has_queue = c.has_queue,
    head_ticket = c.head_ticket,
    used_at = CASE WHEN c.granted THEN clock_timestamp() ELSE l.used_at END
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[], $8::uuid[],
            $9::boolean[], $10::boolean[])
  AS c (name, capacity, in_use, token, next_ticket, head_ticket, lease_id, hold_id, has_queue, granted)
WHERE l.name = c.name;

-- name: edit_write_value
-- $1 name, $2 value: the token of the exclusive hold, and what its holder says of it. This transaction has locked the
-- row.
UPDATE rowlock_lock SET value = $2::text WHERE name = $1::text;

-- name: edit_write_data
-- $1 name, $2 hold, $3 what the holder says of that permit. This transaction has locked the lock's row.
UPDATE rowlock_permit SET data = $3::text WHERE name = $1::text AND hold_id = $2::uuid;

-- name: edit_write_request
-- $1 name, $2 token, $3 milliseconds, $4 reason of a release request. This transaction has locked the row.
UPDATE rowlock_lock
SET request_token = $2::bigint,
    request_until = clock_timestamp() + $3::bigint * interval '1 millisecond',
    request_reason = $4::text
WHERE name = $1::text;

-- name: edit_add_permits
-- $1 names, $2 holds, $3 leases, $4 weights, $5 tokens. An existing permit is replaced.
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token)
SELECT name, hold_id, lease_id, weight, token
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[])
  AS a (name, hold_id, lease_id, weight, token)
ON CONFLICT (name, hold_id) DO UPDATE
SET lease_id = excluded.lease_id, weight = excluded.weight, token = excluded.token;

-- name: edit_remove_permits
-- $1 names, $2 holds. For OFFSET 0 see find.
DELETE FROM rowlock_permit AS p
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
CROSS JOIN LATERAL (
  SELECT g.ctid AS place FROM rowlock_permit AS g WHERE g.name = a.name AND g.hold_id = a.hold_id OFFSET 0
) AS found
WHERE p.ctid = found.place;

-- name: edit_enqueue
-- $1 names, $2 tickets, $3 holds, $4 leases, $5 weights, $6 modes.
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode)
SELECT name, ticket, hold_id, lease_id, weight, mode
FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[])
  AS a (name, ticket, hold_id, lease_id, weight, mode);

-- name: edit_dequeue
-- $1 names, $2 holds. For OFFSET 0 see find.
DELETE FROM rowlock_queue AS q
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
CROSS JOIN LATERAL (
  SELECT w.ctid AS place FROM rowlock_queue AS w WHERE w.name = a.name AND w.hold_id = a.hold_id OFFSET 0
) AS found
WHERE q.ctid = found.place;

-- name: edit_end_leases
-- $1 explicit-ttl leases. This transaction has locked rows of locks, so it waits for nobody: a lease that is skipped
-- is being killed, or expires by itself.
DELETE FROM rowlock_lease AS l
WHERE l.id = ANY (ARRAY (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED
));

-- name: edit_notice
-- $1 leases whose owners must check their holds. Only here does a transaction wait while it has rows of locks locked:
-- a notice must not be skipped, and a renewal keeps its lease locked for only one statement and waits for no lock's
-- row.
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE rowlock_lease AS l SET notice = l.notice + 1 FROM taken AS t WHERE l.id = t.id;

-- name: list
-- name: show
-- Locks with the number of their live waiters: one row for each holder, or one row if there is none. list reads a
-- page: $1 after which name, $2 how many names. show is the same statement for one lock: $1 name. OFFSET 0 makes the
-- server count the waiters once for each lock instead of once for each holder.
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, l.head_ticket, l.lease_id, l.hold_id, l.has_queue,
       l.fair, l.delay_ms,
       l.waiters,
       h.id, h.client_id, h.host, h.pid, h.application, h.ttl_ms, h.username, h.program,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint AS expires_time,
       (extract(epoch FROM clock_timestamp() - g.since) * 1000)::bigint AS held_time,
       g.hold_id AS holder_id, g.weight, g.mode, g.token AS holder_token, g.data, l.request_token,
       greatest((extract(epoch FROM l.request_until - clock_timestamp()) * 1000)::bigint, 0) AS request_time,
       l.request_reason
FROM (
  SELECT k.*,
         (SELECT count(*)
          FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
          WHERE q.name = k.name AND q.ticket >= k.head_ticket) AS waiters
  FROM rowlock_lock AS k
  WHERE k.name = $1::text -- only: show
  WHERE k.name > $1::text -- only: list
  ORDER BY k.name -- only: list
  LIMIT $2::bigint -- only: list
  OFFSET 0
) AS l
LEFT JOIN LATERAL (
  SELECT l.hold_id, l.lease_id, l.capacity AS weight, 'exclusive' AS mode, l.token, l.used_at AS since, l.value AS data
  WHERE l.lease_id IS NOT NULL
  UNION ALL
  SELECT p.hold_id, p.lease_id, p.weight, 'shared', p.token, p.granted_at, p.data
  FROM rowlock_permit AS p
  WHERE p.name = l.name
) AS g ON true
LEFT JOIN rowlock_lease AS h ON h.id = g.lease_id
ORDER BY
  l.name, -- only: list
  g.token;

-- name: collect_take
-- $1 idle time in milliseconds, $2 limit. Locks the rows that may be deleted, and remembers them. This transaction
-- has already locked the row of meta. Kinds of a later version are left alone.
SELECT set_config('rowlock.rows', coalesce(array_agg(name), '{}')::text, true)
FROM (
  SELECT name
  FROM rowlock_lock
  WHERE kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
    AND lease_id IS NULL AND in_use = 0 AND NOT has_queue
    AND used_at <= clock_timestamp() - $1::bigint * interval '1 millisecond'
  ORDER BY name
  LIMIT $2::bigint
  FOR UPDATE SKIP LOCKED
) AS taken;

-- name: collect_floor
-- If a deleted name is created again, its tokens start above this floor.
UPDATE rowlock_meta
SET token_floor = greatest(
  token_floor, (SELECT max(token) FROM rowlock_lock WHERE name = ANY (current_setting('rowlock.rows')::text[])))
WHERE id = 1;

-- name: collect_delete
-- This transaction has locked the rows, so their queues and permits cannot change.
DELETE FROM rowlock_lock AS l
USING rowlock_meta AS m
WHERE l.name = ANY (current_setting('rowlock.rows')::text[])
  AND m.id = 1
  AND l.token <= m.token_floor
  AND l.lease_id IS NULL
  AND l.in_use = 0
  AND NOT l.has_queue
  AND NOT EXISTS (SELECT FROM rowlock_queue AS q WHERE q.name = l.name AND q.ticket >= l.head_ticket)
  AND NOT EXISTS (SELECT FROM rowlock_permit AS p WHERE p.name = l.name);
