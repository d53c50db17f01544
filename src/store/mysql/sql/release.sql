-- name: release_take
-- Which of :requests, [name, lease, hold], may be freed; their rows are locked from here on.
SELECT HEX(k.name) AS name, HEX(k.hold_id) AS hold_id
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', lease VARCHAR(32) PATH '$[1]',
                                           hold VARCHAR(32) PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY)
  ON k.name = UNHEX(a.name) AND k.lease_id = UNHEX(a.lease) AND k.hold_id = UNHEX(a.hold)
WHERE NOT (k.has_queue AND k.fair)
FOR UPDATE /*!80000 OF k */ SKIP LOCKED;

-- name: release
-- Frees :names, whose rows this transaction has locked.
UPDATE JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.lease_id = NULL, l.hold_id = NULL, l.in_use = 0;

-- name: release_nowait
-- MariaDB only. Frees all of :holds or none. None: one of them is locked, lost or has waiters; the error is that of a
-- locked row. :lease chooses a value by the name; :count is the number of holds.
BEGIN NOT ATOMIC
  START TRANSACTION;
  SET STATEMENT innodb_lock_wait_timeout = 0 FOR
  UPDATE rowlock_lock FORCE INDEX (PRIMARY)
  SET lease_id = NULL, hold_id = NULL, in_use = 0
  WHERE name IN (:names) AND hold_id IN (:holds) AND lease_id = :lease AND NOT (has_queue AND fair);
  IF ROW_COUNT() <> :count THEN
    ROLLBACK;
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'not all of the batch can be freed at once';
  END IF;
  COMMIT;
END;

-- name: release_one
-- MariaDB only. Frees a single lock. The row of a hold that a guarded transaction relies on is locked; that is
-- error 1205 at once.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE rowlock_lock FORCE INDEX (PRIMARY)
SET lease_id = NULL, hold_id = NULL, in_use = 0
WHERE name = :name AND lease_id = UNHEX(:lease) AND hold_id = UNHEX(:hold) AND NOT (has_queue AND fair);

-- name: release_shared
-- MariaDB only. Frees a batch of permits and returns which: :requests as [name, lease, hold]. As release_shared_one;
-- a locked row excludes only its own name.
BEGIN NOT ATOMIC
  DECLARE taken LONGTEXT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT GROUP_CONCAT(t.n) INTO taken
  FROM (
    SELECT a.n
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
    STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
    WHERE NOT (k.has_queue AND k.fair)
    LIMIT :all_rows
    FOR UPDATE SKIP LOCKED
  ) AS t;
  SELECT GROUP_CONCAT(t.n) INTO taken
  FROM (
    SELECT a.n
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                               lease VARCHAR(32) PATH '$[1]', hold VARCHAR(32) PATH '$[2]')) AS a
    STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY)
      ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold) AND p.lease_id = UNHEX(a.lease)
    WHERE FIND_IN_SET(a.n, taken) > 0
    LIMIT :all_rows
    FOR UPDATE SKIP LOCKED
  ) AS t;
  IF taken IS NULL THEN
    COMMIT;
  ELSE
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    UPDATE JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                                 hold VARCHAR(32) PATH '$[2]')) AS a
    STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
    STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
    SET l.in_use = l.in_use - p.weight
    WHERE FIND_IN_SET(a.n, taken) > 0;
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    DELETE p
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                               hold VARCHAR(32) PATH '$[2]')) AS a
    STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
    WHERE FIND_IN_SET(a.n, taken) > 0;
    COMMIT;
    SELECT a.hold AS hold_id
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, hold VARCHAR(32) PATH '$[2]')) AS a
    WHERE FIND_IN_SET(a.n, taken) > 0;
  END IF;
END;

-- name: release_shared_one
-- MariaDB only. Frees a permit and returns it. A permit that a guarded transaction relies on is locked: it stays, and
-- others of the name can be freed.
-- The lock's row comes first. A later statement, which has a snapshot of its own, reads the permit; nobody else
-- can change it meanwhile.
BEGIN NOT ATOMIC
  DECLARE used BIGINT;
  DECLARE freed BIGINT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.in_use INTO used
  FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
  WHERE l.name = :name AND NOT (l.has_queue AND l.fair)
  FOR UPDATE SKIP LOCKED;
  IF used IS NOT NULL THEN
    SELECT p.weight INTO freed
    FROM rowlock_permit AS p
    WHERE p.name = :name AND p.hold_id = UNHEX(:hold) AND p.lease_id = UNHEX(:lease);
  END IF;
  IF freed IS NULL THEN
    COMMIT;
  ELSE
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    DELETE FROM rowlock_permit WHERE name = :name AND hold_id = UNHEX(:hold);
    UPDATE rowlock_lock SET in_use = in_use - freed WHERE name = :name;
    COMMIT;
    SELECT HEX(UNHEX(:hold)) AS hold_id;
  END IF;
END;

-- name: hand_over
-- MariaDB only. Grants a lock to the first waiter if that is alive and exclusive, and marks its client's lease.
-- Returns the hold, the client, the token, and whether others may wait behind it. Every other case is left to an
-- edit; then nothing changes and no row is returned.
-- The lock's row comes first. Later statements, which have snapshots of their own, read everything else that
-- decides. The statement waits for nobody while it holds the row: a client's lease that its renewal has locked is
-- not marked, and the client's poll finds the grant.
BEGIN NOT ATOMIC
  DECLARE given BIGINT;
  DECLARE free_ticket BIGINT;
  DECLARE first_ticket BIGINT;
  DECLARE head BIGINT;
  DECLARE next_token BIGINT;
  DECLARE next_hold BINARY(16);
  DECLARE next_lease BINARY(16);
  DECLARE next_client BINARY(16);
  DECLARE at_hand BINARY(16);
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT l.token, l.next_ticket, l.head_ticket INTO given, free_ticket, first_ticket
  FROM rowlock_lock AS l
  WHERE l.name = :name AND l.kind IN ('mutex', 'shared_mutex', 'election')
    AND l.lease_id = UNHEX(:lease) AND l.hold_id = UNHEX(:hold) AND l.has_queue = 1
  FOR UPDATE SKIP LOCKED;
  IF given IS NOT NULL THEN
    SELECT q.ticket, q.hold_id, q.lease_id, h.client_id,
           IF(h.id IS NULL OR q.mode <> 'exclusive', NULL, GREATEST(given + 1, m.epoch_floor))
    INTO head, next_hold, next_lease, next_client, next_token
    FROM rowlock_queue AS q
    LEFT JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
    LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
    WHERE q.name = :name AND q.ticket >= first_ticket
    ORDER BY q.ticket
    LIMIT 1;
  END IF;
  IF next_token IS NULL THEN
    COMMIT;
  ELSE
    UPDATE rowlock_lock
    SET token = next_token, lease_id = next_lease, hold_id = next_hold, in_use = capacity,
        head_ticket = head + 1, has_queue = free_ticket > head + 1, used_at = SYSDATE(6)
    WHERE name = :name;
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    DELETE FROM rowlock_queue WHERE name = :name AND ticket = head;
    IF next_client <> UNHEX(:lease) THEN
      SELECT h.id INTO at_hand FROM rowlock_lease AS h WHERE h.id = next_client FOR UPDATE SKIP LOCKED;
      UPDATE rowlock_lease SET wakes = wakes + 1 WHERE id = at_hand;
    END IF;
    COMMIT;
    SELECT HEX(next_hold) AS granted, HEX(next_client) AS client, next_token AS token,
           free_ticket > head + 1 AS has_queue;
  END IF;
END;
