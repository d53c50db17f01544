-- name: create_missing
-- The positions of the missing names in :locks, [name, kind, capacity, fair, delay]. Waits for no row.
SELECT a.n
FROM JSON_TABLE(:locks, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
WHERE l.name IS NULL;

-- name: create
-- :locks as [name, kind, capacity, fair, delay], sorted, so that two transactions that create the same names wait for
-- each other in one direction only. The share lock on meta comes before the first row, so that no collection can
-- raise the floor and delete the same name in between. If another client has created a name meanwhile, its row is
-- unchanged. The clock keeps the tokens above those of a row that somebody has deleted.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms, token, used_at)
SELECT UNHEX(a.name), a.kind, a.capacity, a.fair, a.delay_ms,
       GREATEST(:floor, CAST(TIMESTAMPDIFF(MICROSECOND, '2026-01-01', SYSDATE(6)) * :tokens_per_us AS SIGNED)
                        - :new_name_lag),
       SYSDATE(6)
FROM rowlock_meta AS m
STRAIGHT_JOIN JSON_TABLE(:locks, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', kind VARCHAR(32) PATH '$[1]',
                                                 capacity BIGINT PATH '$[2]', fair TINYINT PATH '$[3]',
                                                 delay_ms BIGINT PATH '$[4]')) AS a
WHERE m.id = 1
/*M! LOCK IN SHARE MODE */ /*!80000 FOR SHARE OF m */
ON DUPLICATE KEY UPDATE rowlock_lock.capacity = rowlock_lock.capacity;

-- name: edit_take
-- :asked as [name, about]. Locks the rows that nobody else has locked, and remembers which.
SELECT COALESCE(GROUP_CONCAT(t.n), '') INTO @rowlock_taken
FROM (
  SELECT a.n
  FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
  STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS t;

-- name: edit_guard_permits
-- name: edit_guard_permit
-- :asked as [name, hold]. Returns the permits on which no guarded transaction relies: the position in :asked,
-- and the hold. These permits are locked, so that none can rely on them before this transaction ends.
-- edit_guard_permit looks at the permits of the given holds alone.
SELECT a.n, HEX(p.hold_id) AS hold_id
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        hold VARCHAR(32) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY)
  ON p.name = UNHEX(a.name)
  AND p.hold_id = UNHEX(a.hold) -- only: edit_guard_permit
FOR UPDATE /*!80000 OF p */ SKIP LOCKED;

-- name: edit_read
-- Reads what an edit decides from, after its rows are locked. :asked as [name, about, whether all permits are
-- read, how much is wanted]. :holds as [position in :asked, name, hold]: the holds whose permits are read if
-- not all are.
-- part 0: the lock and its holder's lease; 2: the waiter that was asked about; 3: the lock's permits, where
-- each hold in :holds costs one look-up, however many permits there are; 4: the sum of all permits, if
-- store::needs_sum says so. edit_read_queue reads the head of the queue.
SELECT 0 AS part, a.n AS n, NULL AS ticket, HEX(l.lease_id) AS lease_id, HEX(l.hold_id) AS hold_id,
       HEX(h.client_id) AS client_id, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) AS expires_us,
       h.ttl_ms, NULL AS weight, NULL AS mode, l.token AS token,
       l.name IS NOT NULL AS found, FIND_IN_SET(a.n, @rowlock_taken) > 0 AS taken, 1 AS replaceable,
       l.kind, l.capacity, l.in_use, l.has_queue, l.fair, l.delay_ms, :floor AS epoch_floor,
       m.identity = :this_server AS is_recorded_server, l.next_ticket, l.head_ticket
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
JOIN rowlock_meta AS m ON m.id = 1
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
UNION ALL
SELECT 2, a.n, q.ticket, HEX(q.lease_id), HEX(q.hold_id), NULL,
       NULL, NULL, q.weight, q.mode, NULL,
       NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        about VARCHAR(32) PATH '$[1]')) AS a
JOIN rowlock_queue AS q ON q.name = UNHEX(a.name) AND q.hold_id = UNHEX(a.about)
WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0
UNION ALL
SELECT 3, a.n, NULL, HEX(p.lease_id), HEX(p.hold_id), HEX(h.client_id),
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), h.ttl_ms, p.weight, NULL, p.token,
       NULL, NULL, 1,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        reads_all TINYINT PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE a.reads_all AND FIND_IN_SET(a.n, @rowlock_taken) > 0
UNION ALL
SELECT 3, a.n, NULL, HEX(p.lease_id), HEX(p.hold_id), HEX(h.client_id),
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), h.ttl_ms, p.weight, NULL, p.token,
       NULL, NULL, 1,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:holds, '$[*]' COLUMNS (n INT PATH '$[0]', name VARCHAR(1024) PATH '$[1]',
                                        hold VARCHAR(32) PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0
UNION ALL
SELECT 4, a.n, NULL, NULL, NULL, NULL,
       MIN(IF(h.expires_at <= SYSDATE(6) + INTERVAL h.ttl_ms * 1000 MICROSECOND,
              TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), 0)), NULL, CAST(SUM(p.weight) AS SIGNED), NULL, NULL,
       NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        reads_all TINYINT PATH '$[2]', wanted BIGINT PATH '$[3]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = l.name
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE NOT a.reads_all AND a.wanted > 0 AND l.lease_id IS NULL AND l.in_use > 0
  AND (l.has_queue OR l.in_use + a.wanted > l.capacity)
  AND FIND_IN_SET(a.n, @rowlock_taken) > 0
GROUP BY a.n
ORDER BY part, n, ticket, token;

-- name: edit_read_queue
-- The head of the queue of one lock whose row this transaction has locked, from the ticket :head on.
SELECT 1 AS part, q.ticket, HEX(q.lease_id) AS lease_id, HEX(q.hold_id) AS hold_id, HEX(h.client_id) AS client_id,
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) AS expires_us, h.ttl_ms, q.weight, q.mode
FROM (
  SELECT w.ticket, w.lease_id, w.hold_id, w.weight, w.mode
  FROM rowlock_queue AS w FORCE INDEX (PRIMARY)
  WHERE w.name = :name AND w.ticket >= :head
  ORDER BY w.ticket
  LIMIT :queue_read_limit
) AS q
LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id
ORDER BY q.ticket;

-- name: edit_read_data
-- The data of that hold, as they are stored. This transaction has locked the row. This is a statement of its own,
-- because in edit_read such a column would make the server put the rows on the disk.
SELECT value AS data FROM rowlock_lock WHERE name = :name AND hold_id = UNHEX(:hold)
UNION ALL
SELECT data FROM rowlock_permit WHERE name = :name AND hold_id = UNHEX(:hold);

-- name: edit_write_lock
-- :rows as [name, capacity, in_use, token, next_ticket, head_ticket, lease, hold, has_queue, granted], all of
-- which this transaction has locked. A lock keeps its kind.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', capacity BIGINT PATH '$[1]',
                                         in_use BIGINT PATH '$[2]', token BIGINT PATH '$[3]',
                                         next_ticket BIGINT PATH '$[4]', head_ticket BIGINT PATH '$[5]',
                                         lease VARCHAR(32) PATH '$[6]', hold VARCHAR(32) PATH '$[7]',
                                         has_queue TINYINT PATH '$[8]', granted TINYINT PATH '$[9]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.capacity = a.capacity,
    l.in_use = a.in_use,
    l.token = a.token,
    l.next_ticket = a.next_ticket,
    l.lease_id = UNHEX(NULLIF(a.lease, '')),
    l.hold_id = UNHEX(NULLIF(a.hold, '')),
    l.has_queue = a.has_queue,
    l.head_ticket = a.head_ticket,
    l.used_at = IF(a.granted, SYSDATE(6), l.used_at);

-- name: edit_write_value
-- :rows as [name, value]: the token of the exclusive hold, and what its holder says of it, at most 4,117 bytes in all.
-- This transaction has locked the rows.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', value VARCHAR(9000) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.value = UNHEX(a.value);

-- name: edit_write_data
-- :rows as [name, hold, data]: what the holders say of their permits. This transaction has locked the locks' rows and
-- the permits.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]',
                                         data VARCHAR(9000) PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
SET p.data = UNHEX(a.data);

-- name: edit_write_request
-- Writes a release request. This transaction has locked the row.
UPDATE rowlock_lock
SET request_token = :token,
    request_until = SYSDATE(6) + INTERVAL :within_ms * 1000 MICROSECOND,
    request_reason = :reason
WHERE name = :name;

-- name: edit_add_permits
-- :rows as [name, hold, lease, weight, token]. An existing permit is replaced.
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
SELECT UNHEX(a.name), UNHEX(a.hold), UNHEX(a.lease), a.weight, a.token, SYSDATE(6)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]',
                                        lease VARCHAR(32) PATH '$[2]', weight BIGINT PATH '$[3]',
                                        token BIGINT PATH '$[4]')) AS a
ON DUPLICATE KEY UPDATE lease_id = UNHEX(a.lease), weight = a.weight, token = a.token;

-- name: edit_remove_permits
-- :rows as [name, hold].
DELETE p
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold);

-- name: edit_enqueue
-- :rows as [name, ticket, hold, lease, weight, mode].
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode)
SELECT UNHEX(a.name), a.ticket, UNHEX(a.hold), UNHEX(a.lease), a.weight, a.mode
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', ticket BIGINT PATH '$[1]',
                                          hold VARCHAR(32) PATH '$[2]', lease VARCHAR(32) PATH '$[3]',
                                          weight BIGINT PATH '$[4]', mode VARCHAR(32) PATH '$[5]')) AS a;

-- name: edit_dequeue
-- :rows as [name, hold].
DELETE q
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_queue AS q FORCE INDEX (rowlock_queue_hold)
  ON q.name = UNHEX(a.name) AND q.hold_id = UNHEX(a.hold);

-- name: edit_end_leases
-- :rows, explicit-ttl leases. This transaction has locked rows of locks, so it waits for nobody: a lease that is
-- skipped is being killed, or expires by itself.
DELETE l
FROM (
  SELECT k.id
  FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
  STRAIGHT_JOIN rowlock_lease AS k FORCE INDEX (PRIMARY) ON k.id = UNHEX(a.id)
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS t
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;

-- name: edit_notice
-- :rows, leases whose owners must check their holds. None is skipped: if one is locked, the whole edit is retried.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.notice = l.notice + 1;

-- name: list
-- name: show
-- Locks with the number of their live waiters, which is counted once for each lock instead of once for each holder:
-- one row for each holder, or one row if there is none. list reads a page: the names after :after, at most :most.
-- show is the same statement for one lock, :name.
WITH page AS (SELECT * FROM rowlock_lock WHERE name > :after ORDER BY name LIMIT :most) -- only: list
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, l.head_ticket,
       HEX(l.lease_id) AS lease_id, HEX(l.hold_id) AS hold_id, l.has_queue,
       l.fair, l.delay_ms,
       COALESCE(c.waiters, 0) AS waiters,
       HEX(h.id) AS id, HEX(h.client_id) AS client_id, h.host, h.pid, h.application, h.ttl_ms, h.username, h.program,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) / 1000) AS expires_time,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, g.since, SYSDATE(6)) / 1000) AS held_time,
       HEX(g.hold_id) AS holder_id, g.weight, g.mode, g.token AS holder_token,
       IF(g.mode = 'exclusive', l.value, d.data) AS data, l.request_token,
       GREATEST(FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.request_until) / 1000), 0) AS request_time,
       l.request_reason
FROM page AS l -- only: list
FROM rowlock_lock AS l -- only: show
LEFT JOIN (
  SELECT k.name, k.hold_id, k.lease_id, k.capacity AS weight, 'exclusive' AS mode, k.token, k.used_at AS since
  FROM page AS k -- only: list
  FROM rowlock_lock AS k -- only: show
  WHERE k.lease_id IS NOT NULL
    AND k.name = :name -- only: show
  UNION ALL
  SELECT p.name, p.hold_id, p.lease_id, p.weight, 'shared', p.token, p.granted_at
  FROM page AS k JOIN rowlock_permit AS p ON p.name = k.name -- only: list
  FROM rowlock_permit AS p -- only: show
  WHERE p.name = :name -- only: show
) AS g ON g.name = l.name
LEFT JOIN rowlock_permit AS d ON d.name = g.name AND d.hold_id = g.hold_id
LEFT JOIN rowlock_lease AS h ON h.id = g.lease_id
LEFT JOIN (
  SELECT k.name, COUNT(*) AS waiters
  FROM page AS k -- only: list
  FROM rowlock_lock AS k -- only: show
  JOIN rowlock_queue AS q ON q.name = k.name AND q.ticket >= k.head_ticket
  JOIN rowlock_lease AS w ON w.id = q.lease_id
  WHERE k.name = :name -- only: show
  GROUP BY k.name
) AS c ON c.name = l.name
WHERE l.name = :name -- only: show
ORDER BY
  l.name, -- only: list
  g.token;

-- name: collect_find
-- Locks that may be deleted. Kinds of a later version are left alone.
SELECT HEX(k.name)
FROM rowlock_lock AS k
WHERE k.kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
  AND k.lease_id IS NULL AND k.in_use = 0 AND k.has_queue = 0
  AND k.used_at <= SYSDATE(6) - INTERVAL :idle_us MICROSECOND
  AND NOT EXISTS (SELECT 1 FROM rowlock_queue AS q WHERE q.name = k.name)
  AND NOT EXISTS (SELECT 1 FROM rowlock_permit AS p WHERE p.name = k.name)
ORDER BY k.name
LIMIT :most;

-- name: collect_take
-- Checks :names again now that their rows, and thereby their queues and permits, are locked. This transaction has
-- already locked the row of meta.
SELECT HEX(k.name) AS name, k.token
FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
WHERE k.kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
  AND k.lease_id IS NULL AND k.in_use = 0 AND k.has_queue = 0
  AND k.used_at <= SYSDATE(6) - INTERVAL :idle_us MICROSECOND
FOR UPDATE /*!80000 OF k */ SKIP LOCKED;

-- name: collect_floor
-- If a deleted name is created again, its tokens start above this floor.
UPDATE rowlock_meta SET token_floor = GREATEST(token_floor, :token) WHERE id = 1;

-- name: collect_delete
-- :names, whose rows this transaction has locked.
DELETE l
FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_queue AS q ON q.name = l.name
LEFT JOIN rowlock_permit AS p ON p.name = l.name
WHERE q.name IS NULL AND p.name IS NULL;
