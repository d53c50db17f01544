-- name: release_one_nowait
-- MariaDB only. Frees a single lock. The row of a hold that a guarded transaction relies on is locked; that is
-- error 1205 at once.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET lease_id = NULL, hold_id = NULL, in_use = 0
WHERE name = :name AND lease_id = UNHEX(:lease) AND hold_id = UNHEX(:hold) AND NOT (has_queue AND fair);

-- name: release_one
-- As release_one_nowait, on MySQL.
UPDATE (
  SELECT k.name
  FROM rowlock_lock AS k FORCE INDEX (PRIMARY)
  WHERE k.name = :name AND k.lease_id = UNHEX(:lease) AND k.hold_id = UNHEX(:hold) AND NOT (k.has_queue AND k.fair)
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS own
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.lease_id = NULL, l.hold_id = NULL, l.in_use = 0;

-- name: release_one_ending
-- A script. Frees a single lock together with its lease, an explicit-ttl lease, and returns whether it did. The row of
-- a hold that a guarded transaction relies on is locked: it is skipped, and both stay. The lease comes after the lock's
-- row, so it is not waited for: one that is skipped is being killed, or expires by itself.
SET @rowlock_freed = NULL;
START TRANSACTION;
SELECT 1 INTO @rowlock_freed
FROM rowlock_lock FORCE INDEX (PRIMARY)
WHERE name = :name AND lease_id = UNHEX(:lease) AND hold_id = UNHEX(:hold) AND NOT (has_queue AND fair)
FOR UPDATE SKIP LOCKED;
UPDATE rowlock_lock SET lease_id = NULL, hold_id = NULL, in_use = 0 WHERE name = :name AND @rowlock_freed IS NOT NULL;
DELETE l
FROM (
  SELECT k.id
  FROM rowlock_lease AS k FORCE INDEX (PRIMARY)
  WHERE k.id = UNHEX(:lease) AND @rowlock_freed IS NOT NULL
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS t
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;
SELECT @rowlock_freed IS NOT NULL AS is_freed;
COMMIT;

-- name: release_all
-- A script. Frees all of :holds or, if one of them is locked, lost or has waiters, none; returns whether it did. :lease
-- chooses a value by the name; :count is the number of holds.
SET @rowlock_own = NULL;
START TRANSACTION;
SELECT COUNT(*) INTO @rowlock_own
FROM rowlock_lock FORCE INDEX (PRIMARY)
WHERE name IN (:names) AND hold_id IN (:holds) AND lease_id = :lease AND NOT (has_queue AND fair)
FOR UPDATE SKIP LOCKED;
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET lease_id = NULL, hold_id = NULL, in_use = 0
WHERE name IN (:names) AND @rowlock_own = :count;
SELECT @rowlock_own = :count;
COMMIT;

-- name: release
-- A script. Frees those of :holds whose rows nobody has locked, and returns which. The second statement takes the rows
-- that the first one has locked, and no others. :ending are those of the leases that end with their holds, if there are
-- any; see release_one_ending.
SET @rowlock_taken = NULL, @rowlock_ending = NULL;
START TRANSACTION;
SELECT GROUP_CONCAT(HEX(own.hold_id)), GROUP_CONCAT(IF(own.lease_id IN (:ending), HEX(own.lease_id), NULL))
INTO @rowlock_taken, @rowlock_ending
FROM (
  SELECT hold_id, lease_id
  FROM rowlock_lock FORCE INDEX (PRIMARY)
  WHERE name IN (:names) AND hold_id IN (:holds) AND lease_id = :lease AND NOT (has_queue AND fair)
  LIMIT :all_rows
  FOR UPDATE SKIP LOCKED
) AS own;
UPDATE (
  SELECT k.name
  FROM rowlock_lock AS k FORCE INDEX (PRIMARY)
  WHERE k.name IN (:names) AND FIND_IN_SET(HEX(k.hold_id), @rowlock_taken) > 0
  LIMIT :all_rows
  FOR UPDATE SKIP LOCKED
) AS own
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.lease_id = NULL, l.hold_id = NULL, l.in_use = 0;
DELETE l
FROM (
  SELECT k.id
  FROM rowlock_lease AS k FORCE INDEX (PRIMARY)
  WHERE @rowlock_ending IS NOT NULL AND k.id IN (:ending) AND FIND_IN_SET(HEX(k.id), @rowlock_ending) > 0
  LIMIT :all_rows
  FOR UPDATE SKIP LOCKED
) AS t
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;
SELECT a.hold_id
FROM JSON_TABLE(CONCAT('["', REPLACE(@rowlock_taken, ',', '","'), '"]'), '$[*]'
                COLUMNS (hold_id VARCHAR(32) PATH '$')) AS a;
COMMIT;

-- name: release_shared_one
-- name: release_shared_one_ending
-- A script, behind `begin` or take_hot_row. Frees a permit and returns whether it did. A permit that a
-- guarded transaction relies on is locked: it stays, and others of the name can be freed. is_locked: as in
-- acquire_shared_one.
-- The lock's row comes first. A later statement, which has a snapshot of its own, reads the permit; nobody
-- else can change it meanwhile. release_shared_one_ending also ends the permit's lease: see release_one_ending.
SET @rowlock_used = NULL, @rowlock_waited_for = NULL, @rowlock_freed = NULL;
SELECT l.in_use, l.has_queue AND l.fair INTO @rowlock_used, @rowlock_waited_for
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name = :name
FOR UPDATE SKIP LOCKED;
SELECT p.weight INTO @rowlock_freed
FROM rowlock_permit AS p FORCE INDEX (PRIMARY)
WHERE p.name = :name AND p.hold_id = UNHEX(:hold) AND p.lease_id = UNHEX(:lease) AND @rowlock_waited_for = 0
FOR UPDATE SKIP LOCKED;
DELETE FROM rowlock_permit WHERE name = :name AND hold_id = UNHEX(:hold) AND @rowlock_freed IS NOT NULL;
UPDATE rowlock_lock SET in_use = in_use - @rowlock_freed WHERE name = :name AND @rowlock_freed IS NOT NULL;
-- only: release_shared_one_ending DELETE l
-- only: release_shared_one_ending FROM (
-- only: release_shared_one_ending   SELECT k.id
-- only: release_shared_one_ending   FROM rowlock_lease AS k FORCE INDEX (PRIMARY)
-- only: release_shared_one_ending   WHERE k.id = UNHEX(:lease) AND @rowlock_freed IS NOT NULL
-- only: release_shared_one_ending   LIMIT 1
-- only: release_shared_one_ending   FOR UPDATE SKIP LOCKED
-- only: release_shared_one_ending ) AS t
-- only: release_shared_one_ending STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;
SELECT @rowlock_freed IS NOT NULL AS is_freed, @rowlock_used IS NULL AS is_locked;
COMMIT;

-- name: release_shared
-- name: release_shared_ending
-- A script. Frees a batch of permits and returns which: :requests as [name, lease, hold, whether the lease ends with
-- the hold], where a name may occur more than once. Only release_shared_ending ends leases. As release_shared_one; a
-- locked row excludes only its own name. For the sum see acquire_shared.
SET @rowlock_taken = NULL, @rowlock_freed = NULL;
START TRANSACTION;
SELECT GROUP_CONCAT(t.n) INTO @rowlock_taken
FROM (
  SELECT a.n
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
  STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
  WHERE NOT (k.has_queue AND k.fair)
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS t;
SELECT GROUP_CONCAT(t.n) INTO @rowlock_freed
FROM (
  SELECT a.n
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             lease VARCHAR(32) PATH '$[1]', hold VARCHAR(32) PATH '$[2]')) AS a
  STRAIGHT_JOIN rowlock_permit AS k FORCE INDEX (PRIMARY)
    ON k.name = UNHEX(a.name) AND k.hold_id = UNHEX(a.hold) AND k.lease_id = UNHEX(a.lease)
  WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS t;
UPDATE (
  SELECT p.name, SUM(p.weight) AS weight
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             hold VARCHAR(32) PATH '$[2]')) AS a
  STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
  WHERE FIND_IN_SET(a.n, @rowlock_freed) > 0
  GROUP BY p.name
) AS f
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = f.name
SET l.in_use = l.in_use - f.weight;
DELETE p
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                           hold VARCHAR(32) PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
WHERE FIND_IN_SET(a.n, @rowlock_freed) > 0;
-- only: release_shared_ending DELETE l
-- only: release_shared_ending FROM (
-- only: release_shared_ending   SELECT k.id
-- only: release_shared_ending   FROM JSON_TABLE(:requests, '$[*]'
-- only: release_shared_ending                   COLUMNS (n FOR ORDINALITY, lease VARCHAR(32) PATH '$[1]', ends TINYINT PATH '$[3]')) AS a
-- only: release_shared_ending   STRAIGHT_JOIN rowlock_lease AS k FORCE INDEX (PRIMARY) ON k.id = UNHEX(a.lease)
-- only: release_shared_ending   WHERE a.ends AND FIND_IN_SET(a.n, @rowlock_freed) > 0
-- only: release_shared_ending   LIMIT :all_rows
-- only: release_shared_ending   FOR UPDATE /*!80000 OF k */ SKIP LOCKED
-- only: release_shared_ending ) AS t
-- only: release_shared_ending STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;
SELECT a.hold AS hold_id
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, hold VARCHAR(32) PATH '$[2]')) AS a
WHERE FIND_IN_SET(a.n, @rowlock_freed) > 0;
COMMIT;

-- name: hand_over
-- A script. Grants a lock to the first waiter if that is alive and exclusive, and marks its client's lease.
-- Returns the hold, the client, the token, and whether others may wait behind it. Every other case is left to an
-- edit; then nothing changes and no row is returned.
-- The lock's row comes first. Later statements, which have snapshots of their own, read everything else that
-- decides. The script waits for nobody while it holds the row: a client's lease that its renewal has locked is
-- not marked, and the client's poll finds the grant.
SET @rowlock_given = NULL, @rowlock_token = NULL, @rowlock_client = NULL, @rowlock_woken = NULL;
START TRANSACTION;
SELECT l.token, l.next_ticket, l.head_ticket INTO @rowlock_given, @rowlock_ticket, @rowlock_first
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name = :name AND l.kind IN ('mutex', 'shared_mutex', 'election')
  AND l.lease_id = UNHEX(:lease) AND l.hold_id = UNHEX(:hold) AND l.has_queue = 1
FOR UPDATE SKIP LOCKED;
SELECT q.ticket, q.hold_id, q.lease_id, h.client_id,
       IF(h.id IS NULL OR q.mode <> 'exclusive', NULL, GREATEST(@rowlock_given + 1, :floor))
INTO @rowlock_head, @rowlock_hold, @rowlock_lease, @rowlock_client, @rowlock_token
FROM rowlock_queue AS q FORCE INDEX (PRIMARY)
LEFT JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :this_server
LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
WHERE q.name = :name AND q.ticket >= @rowlock_first AND @rowlock_given IS NOT NULL
ORDER BY q.ticket
LIMIT 1;
UPDATE rowlock_lock
SET token = @rowlock_token, lease_id = @rowlock_lease, hold_id = @rowlock_hold, in_use = capacity,
    head_ticket = @rowlock_head + 1, has_queue = @rowlock_ticket > @rowlock_head + 1, used_at = SYSDATE(6)
WHERE name = :name AND @rowlock_token IS NOT NULL;
/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */
DELETE FROM rowlock_queue WHERE name = :name AND ticket = @rowlock_head AND @rowlock_token IS NOT NULL;
SELECT h.id INTO @rowlock_woken
FROM rowlock_lease AS h FORCE INDEX (PRIMARY)
WHERE h.id = @rowlock_client AND @rowlock_client <> UNHEX(:lease) AND @rowlock_token IS NOT NULL
FOR UPDATE SKIP LOCKED;
UPDATE rowlock_lease SET wakes = wakes + 1 WHERE id = @rowlock_woken;
SELECT HEX(@rowlock_hold) AS granted, HEX(@rowlock_client) AS client, @rowlock_token AS token,
       @rowlock_ticket > @rowlock_head + 1 AS has_queue
FROM DUAL
WHERE @rowlock_token IS NOT NULL;
COMMIT;
