-- name: acquire_one_nowait
-- MariaDB only. Grants a single lock. The inserted id is its token: it means nothing if no row was matched,
-- and it is 0 if the table has a trigger (granted_token). The statement waits for no row, so what it reads of
-- meta is as old as the lock's row; a locked row is error 1205 at once. The key is forced because a small
-- table would be scanned, and the scan would meet other clients' locked rows. If meta does not name this
-- server, nothing is granted.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET token = LAST_INSERT_ID(GREATEST(token + 1, (SELECT :floor FROM rowlock_meta AS m WHERE m.id = 1))),
    lease_id = UNHEX(:lease),
    hold_id = UNHEX(:hold),
    in_use = capacity,
    used_at = SYSDATE(6)
WHERE name = :name AND kind = :kind AND capacity = :capacity AND fair = :fair
  AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
  AND (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :this_server;

-- name: acquire_one
-- As acquire_one_nowait, on MySQL, which cannot be told not to wait: the row is locked first, and a locked
-- row is skipped. On MariaDB this statement takes twice as much of the processor.
UPDATE (
  SELECT k.name
  FROM rowlock_lock AS k FORCE INDEX (PRIMARY)
  WHERE k.name = :name AND k.kind = :kind AND k.capacity = :capacity AND k.fair = :fair
    AND k.lease_id IS NULL AND k.in_use = 0 AND NOT (k.has_queue AND k.fair)
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS free
STRAIGHT_JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :this_server
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = free.name
SET l.token = LAST_INSERT_ID(GREATEST(l.token + 1, :floor)),
    l.lease_id = UNHEX(:lease),
    l.hold_id = UNHEX(:hold),
    l.in_use = l.capacity,
    l.used_at = SYSDATE(6);

-- name: granted_token
-- The token of a hold that was just granted, if the server has not returned it (a table with a trigger).
SELECT token FROM rowlock_lock WHERE name = :name AND hold_id = UNHEX(:hold);

-- name: acquire_nowait
-- A script, MariaDB only. Grants a batch as acquire_one_nowait does, and returns which of :holds have their
-- lock now; a hold belongs to one name. :kind, :capacity, :fair, :lease and :hold choose a value by the name.
-- If one row of :names is locked, the whole batch fails with error 1205 at once.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET token = GREATEST(token + 1, (SELECT :floor FROM rowlock_meta AS m WHERE m.id = 1)),
    lease_id = :lease,
    hold_id = :hold,
    in_use = capacity,
    used_at = SYSDATE(6)
WHERE name IN (:names) AND kind = :kind AND capacity = :capacity AND fair = :fair
  AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
  AND (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :this_server;
SELECT HEX(l.hold_id) AS hold_id, l.token
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name IN (:names) AND l.hold_id IN (:holds);

-- name: acquire
-- A script. As acquire_nowait, for the names whose rows nobody has locked.
UPDATE (
  SELECT name, :lease AS lease_id, :hold AS hold_id
  FROM rowlock_lock FORCE INDEX (PRIMARY)
  WHERE name IN (:names) AND kind = :kind AND capacity = :capacity AND fair = :fair
    AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
  LIMIT :all_rows
  FOR UPDATE SKIP LOCKED
) AS free
STRAIGHT_JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :this_server
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = free.name
SET l.token = GREATEST(l.token + 1, :floor),
    l.lease_id = free.lease_id,
    l.hold_id = free.hold_id,
    l.in_use = l.capacity,
    l.used_at = SYSDATE(6);
SELECT HEX(l.hold_id) AS hold_id, l.token
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name IN (:names) AND l.hold_id IN (:holds);

-- name: acquire_all
-- A script. Grants all of :names as acquire does or, if one of them is locked, taken or has waiters, none; returns which
-- of :holds have their lock now. The last write takes the rows that the first statement has locked, and no others.
SET @rowlock_free = NULL, @rowlock_floor = NULL;
START TRANSACTION;
SELECT COUNT(*) INTO @rowlock_free
FROM rowlock_lock FORCE INDEX (PRIMARY)
WHERE name IN (:names) AND kind = :kind AND capacity = :capacity AND fair = :fair
  AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
FOR UPDATE SKIP LOCKED;
SELECT :floor INTO @rowlock_floor
FROM rowlock_meta AS m
WHERE m.id = 1 AND m.identity = :this_server AND @rowlock_free = :count;
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET token = GREATEST(token + 1, @rowlock_floor),
    lease_id = :lease,
    hold_id = :hold,
    in_use = capacity,
    used_at = SYSDATE(6)
WHERE name IN (:names) AND @rowlock_floor IS NOT NULL;
SELECT HEX(l.hold_id) AS hold_id, l.token
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name IN (:names) AND l.hold_id IN (:holds) AND @rowlock_floor IS NOT NULL;
COMMIT;

-- name: take_hot_row
-- A script. Begins the transaction of acquire_shared_one or release_shared_one in place of `begin`, and waits
-- for the lock's row behind the transactions that came before. If that takes longer than :wait_ms, it fails
-- with error 1969 or 3024, and @rowlock_taken is NULL. This transaction has locked nothing yet, so nobody
-- waits for it meanwhile.
SET @rowlock_taken = NULL;
START TRANSACTION;
/*M! SET STATEMENT max_statement_time = :wait_s FOR */
SELECT /*+ MAX_EXECUTION_TIME(:wait_ms) */ 1 INTO @rowlock_taken
FROM rowlock_lock FORCE INDEX (PRIMARY)
WHERE name = :name
FOR UPDATE;

-- name: hot_row_taken
-- Sent after a script that begins with take_hot_row has failed: whether take_hot_row had got its row. If so,
-- a statement behind it has failed.
SELECT @rowlock_taken IS NOT NULL;

-- name: acquire_shared_one
-- A script, behind `begin` or take_hot_row. Grants a permit and returns its token. If the request does not
-- fit, nothing changes and the token is NULL; an edit then decides. is_locked: the script had to skip the
-- lock's row, or there is no such row.
-- The lock's row comes first. If it is locked, even by the guard of another reader, it is skipped. Later
-- statements, which have snapshots of their own, read everything else that decides. A permit changes only
-- under its lock's row, so the INSERT meets no other permit of this hold. It may meet a gap that a guard has
-- locked: MariaDB does not wait for that, and MySQL, which has no shorter limit, waits for a second.
SET @rowlock_given = NULL, @rowlock_fits = NULL, @rowlock_token = NULL;
SELECT l.token,
       l.kind = :kind AND l.capacity = :capacity AND l.fair = :fair
         AND l.lease_id IS NULL AND l.in_use + :weight <= l.capacity AND NOT (l.has_queue AND l.fair)
INTO @rowlock_given, @rowlock_fits
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name = :name
FOR UPDATE SKIP LOCKED;
SELECT GREATEST(@rowlock_given + 1, :floor) INTO @rowlock_token
FROM rowlock_meta AS m
WHERE m.id = 1 AND m.identity = :this_server AND @rowlock_fits
  AND NOT EXISTS (SELECT 1 FROM rowlock_permit AS p WHERE p.name = :name AND p.hold_id = UNHEX(:hold));
/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
SELECT :name, UNHEX(:hold), UNHEX(:lease), :weight, @rowlock_token, SYSDATE(6)
FROM DUAL
WHERE @rowlock_token IS NOT NULL;
UPDATE rowlock_lock
SET in_use = in_use + :weight, token = @rowlock_token, used_at = SYSDATE(6)
WHERE name = :name AND @rowlock_token IS NOT NULL;
SELECT @rowlock_token AS token, @rowlock_given IS NULL AS is_locked;
COMMIT;

-- name: acquire_shared
-- A script. Grants a batch of permits and returns their tokens: :requests as [name, kind, capacity, lease, hold,
-- fair, weight], where a name may occur more than once: its requests are granted in their order, up to the first that
-- does not fit. As acquire_shared_one; a locked row excludes only its own name, a locked gap the whole batch. An UPDATE
-- of several tables changes a row once, however many rows it is joined with, so the requests of a name are summed up
-- before.
SET @rowlock_taken = NULL, @rowlock_granted = NULL, @rowlock_floor = NULL;
START TRANSACTION;
SELECT GROUP_CONCAT(t.n) INTO @rowlock_taken
FROM (
  SELECT a.n
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             kind VARCHAR(32) PATH '$[1]', capacity BIGINT PATH '$[2]',
                                             fair TINYINT PATH '$[5]')) AS a
  STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
  WHERE k.kind = a.kind AND k.capacity = a.capacity AND k.fair = a.fair
    AND k.lease_id IS NULL AND k.in_use < k.capacity AND NOT (k.has_queue AND k.fair)
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS t;
SELECT GROUP_CONCAT(i.n), MAX(:floor) INTO @rowlock_granted, @rowlock_floor
FROM (
  SELECT a.n, l.capacity - l.in_use AS room, SUM(a.weight) OVER (PARTITION BY a.name ORDER BY a.n) AS used_up
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             hold VARCHAR(32) PATH '$[4]', weight BIGINT PATH '$[6]')) AS a
  JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
  LEFT JOIN rowlock_permit AS p ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
  WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0 AND p.name IS NULL
) AS i
JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :this_server
WHERE i.used_up <= i.room;
UPDATE (
  SELECT a.name, SUM(a.weight) AS weight, COUNT(*) AS holds
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             weight BIGINT PATH '$[6]')) AS a
  WHERE FIND_IN_SET(a.n, @rowlock_granted) > 0
  GROUP BY a.name
) AS g
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(g.name)
SET l.in_use = l.in_use + g.weight, l.token = GREATEST(l.token, @rowlock_floor - 1) + g.holds, l.used_at = SYSDATE(6);
/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
SELECT l.name, UNHEX(a.hold), UNHEX(a.lease), a.weight,
       l.token - COUNT(*) OVER (PARTITION BY a.name) + ROW_NUMBER() OVER (PARTITION BY a.name ORDER BY a.n), SYSDATE(6)
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                           lease VARCHAR(32) PATH '$[3]', hold VARCHAR(32) PATH '$[4]',
                                           weight BIGINT PATH '$[6]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
WHERE FIND_IN_SET(a.n, @rowlock_granted) > 0;
SELECT HEX(p.hold_id) AS hold_id, p.token
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                           hold VARCHAR(32) PATH '$[4]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
WHERE FIND_IN_SET(a.n, @rowlock_granted) > 0;
COMMIT;
