-- name: create
-- ?6 the clock's token, which keeps the tokens above those of a row that somebody has deleted. WHERE tells the parser
-- that ON CONFLICT belongs to the INSERT.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms, token, used_at)
SELECT ?1, ?2, ?3, ?4, ?5, max(token_floor, epoch_floor, ?6 - :new_name_lag),
       :now_us
  FROM rowlock_meta
 WHERE id = 1
ON CONFLICT (name) DO NOTHING;

-- name: edit_read
-- ?2 is returned as it is, so that the columns are those of the other dialects.
SELECT 0 AS part, k.kind, k.capacity, k.in_use, k.token, k.next_ticket, 0 AS head_ticket, k.lease_id, k.hold_id,
       k.has_queue, k.fair, k.delay_ms,
       l.client_id,
       l.expires_at - :now_us AS expires_us, l.ttl_ms,
       1 AS found, 1 AS taken, 1 AS replaceable,
       (SELECT max(epoch_floor, token_floor) FROM rowlock_meta WHERE id = 1) AS epoch_floor, ?2 AS is_recorded_server
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease l ON l.id = k.lease_id
 WHERE k.name = ?1;

-- name: edit_read_permits
-- name: edit_read_permit
-- edit_read_permit reads the permit of the hold ?2 alone.
SELECT 3 AS part, p.hold_id, p.lease_id, p.weight, p.token, l.client_id,
       l.expires_at - :now_us AS expires_us, l.ttl_ms, 1 AS replaceable
  FROM rowlock_permit p
  LEFT JOIN rowlock_lease l ON l.id = p.lease_id
 WHERE p.name = ?1
   AND p.hold_id = ?2 -- only: edit_read_permit
 ORDER BY p.token;

-- name: edit_read_sum
-- The sum of all permits, and when the first of their leases may be killed. A lease that is missing or too long counts
-- as due.
SELECT 4 AS part, coalesce(sum(p.weight), 0) AS weight,
       coalesce(min(iif(l.expires_at - :now_us <= l.ttl_ms * 1000, l.expires_at - :now_us, 0)), 0) AS expires_us
  FROM rowlock_permit p
  LEFT JOIN rowlock_lease l ON l.id = p.lease_id
 WHERE p.name = ?1;

-- name: edit_read_queue
SELECT 1 AS part, q.ticket, q.hold_id, q.lease_id, q.weight, q.mode, l.client_id,
       l.expires_at - :now_us AS expires_us, l.ttl_ms
  FROM rowlock_queue q
  LEFT JOIN rowlock_lease l ON l.id = q.lease_id
 WHERE q.name = ?1
 ORDER BY q.ticket
 LIMIT :queue_read_limit;

-- name: edit_read_own
SELECT 2 AS part, ticket, hold_id, lease_id, weight, mode FROM rowlock_queue WHERE name = ?1 AND hold_id = ?2;

-- name: edit_read_data
-- ?2 hold: what its holder says of it, as it is stored.
SELECT value AS data FROM rowlock_lock WHERE name = ?1 AND hold_id = ?2
UNION ALL
SELECT data FROM rowlock_permit WHERE name = ?1 AND hold_id = ?2;

-- name: edit_write_lock
-- A lock keeps its kind, even one that this version does not know. ?6 is the head of the queue, which SQLite does not
-- need; ?10: whether the holder is new.
UPDATE rowlock_lock
   SET capacity = ?2, in_use = ?3, token = ?4, next_ticket = ?5, lease_id = ?7, hold_id = ?8, has_queue = ?9,
       used_at = iif(?10, :now_us, used_at)
 WHERE name = ?1;

-- name: edit_write_value
-- ?2 the token of the exclusive hold, and what its holder says of it.
UPDATE rowlock_lock SET value = ?2 WHERE name = ?1;

-- name: edit_write_data
-- ?2 hold, ?3 what the holder says of that permit.
UPDATE rowlock_permit SET data = ?3 WHERE name = ?1 AND hold_id = ?2;

-- name: edit_write_request
-- A release request: ?2 token, ?3 milliseconds, ?4 reason.
UPDATE rowlock_lock
   SET request_token = ?2,
       request_until = :now_us + ?3 * 1000,
       request_reason = ?4
 WHERE name = ?1;

-- name: edit_add_permits
-- An existing permit is replaced.
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
VALUES (?1, ?2, ?3, ?4, ?5, :now_us)
ON CONFLICT (name, hold_id) DO UPDATE
SET lease_id = excluded.lease_id, weight = excluded.weight, token = excluded.token;

-- name: edit_remove_permits
DELETE FROM rowlock_permit WHERE name = ?1 AND hold_id = ?2;

-- name: edit_enqueue
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: edit_dequeue
DELETE FROM rowlock_queue WHERE name = ?1 AND hold_id = ?2;

-- name: edit_notice
UPDATE rowlock_lease SET notice = notice + 1 WHERE id = ?1;

-- name: list
-- name: show
-- Locks with the number of their live waiters, which is counted once for each lock instead of once for each holder:
-- one row for each holder, or one row if there is none. list reads a page: ?1 after which name, ?2 how many names.
-- show is the same statement for one lock, ?1.
WITH page AS MATERIALIZED (SELECT * FROM rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2) -- only: list
SELECT k.name, k.kind, k.capacity, k.in_use, k.token, k.next_ticket, 0 AS head_ticket, k.lease_id, k.hold_id, k.has_queue,
       k.fair, k.delay_ms,
       coalesce(c.waiters, 0) AS waiters,
       l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms, l.username, l.program,
       l.expires_at - :now_us AS expires_time,
       :now_us - g.since AS held_time,
       g.hold_id AS holder_id, g.weight, g.mode, g.token AS holder_token, g.data, k.request_token,
       max(k.request_until - :now_us, 0) AS request_time, k.request_reason
  FROM page k -- only: list
  FROM rowlock_lock k -- only: show
  LEFT JOIN (SELECT name, hold_id, lease_id, capacity AS weight, 'exclusive' AS mode, token, used_at AS since,
                    value AS data
               FROM page -- only: list
               FROM rowlock_lock -- only: show
              WHERE lease_id IS NOT NULL
                AND name = ?1 -- only: show
              UNION ALL
             SELECT name, hold_id, lease_id, weight, 'shared', token, granted_at, data
               FROM rowlock_permit
              WHERE name = ?1 -- only: show
              WHERE name > ?1 AND name <= (SELECT max(name) FROM page) -- only: list
            ) g ON g.name = k.name
  LEFT JOIN rowlock_lease l ON l.id = g.lease_id
  LEFT JOIN (SELECT q.name, count(*) AS waiters
               FROM rowlock_queue q
               JOIN rowlock_lease w ON w.id = q.lease_id
              WHERE q.name = ?1 -- only: show
              WHERE q.name > ?1 AND q.name <= (SELECT max(name) FROM page) -- only: list
              GROUP BY q.name) c ON c.name = k.name
 WHERE k.name = ?1 -- only: show
 ORDER BY
       k.name, -- only: list
       g.token;

-- name: collect_find
-- Locks that may be deleted. Kinds of a later version are left alone.
SELECT name
  FROM rowlock_lock k
 WHERE kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
   AND lease_id IS NULL
   AND in_use = 0
   AND has_queue = 0
   AND used_at <= :now_us - ?2
   AND NOT EXISTS (SELECT 1 FROM rowlock_queue q WHERE q.name = k.name)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = k.name)
 LIMIT ?1;

-- name: collect_floor
UPDATE rowlock_meta SET token_floor = max(token_floor, ?1) WHERE id = 1;

-- name: collect_delete
-- Kinds of a later version are left alone.
DELETE FROM rowlock_lock
 WHERE name = ?1
   AND kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
   AND lease_id IS NULL
   AND in_use = 0
   AND has_queue = 0
   AND used_at <= :now_us - ?2
   AND NOT EXISTS (SELECT 1 FROM rowlock_queue q WHERE q.name = ?1)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = ?1)
RETURNING token;
