-- Grants a batch of permits, and tells their tokens: :requests as [name, kind, capacity, lease, hold, fair, weight]. As
-- acquire_shared_one; a locked row keeps back its own name alone, a locked gap the whole batch. MariaDB only.
BEGIN NOT ATOMIC
  DECLARE taken LONGTEXT;
  DECLARE floor_now BIGINT;
  DECLARE EXIT HANDLER FOR 1205 ROLLBACK;
  START TRANSACTION;
  SELECT GROUP_CONCAT(t.n) INTO taken
  FROM (
    SELECT a.n
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                               kind VARCHAR(32) PATH '$[1]', capacity BIGINT PATH '$[2]',
                                               fair TINYINT PATH '$[5]', weight BIGINT PATH '$[6]')) AS a
    STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
    WHERE k.kind = a.kind AND k.capacity = a.capacity AND k.fair = a.fair
      AND k.lease_id IS NULL AND k.in_use + a.weight <= k.capacity AND NOT (k.has_queue AND k.fair)
    LIMIT 1000000
    FOR UPDATE SKIP LOCKED
  ) AS t;
  SELECT GROUP_CONCAT(a.n), MAX(m.epoch_floor) INTO taken, floor_now
  FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                             hold VARCHAR(32) PATH '$[4]')) AS a
  JOIN rowlock_meta AS m ON m.id = 1 AND m.identity = :identity
  LEFT JOIN rowlock_permit AS p ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
  WHERE FIND_IN_SET(a.n, taken) > 0 AND p.name IS NULL;
  IF taken IS NULL THEN
    COMMIT;
  ELSE
    UPDATE JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                                 weight BIGINT PATH '$[6]')) AS a
    STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
    SET l.in_use = l.in_use + a.weight, l.token = GREATEST(l.token + 1, floor_now), l.used_at = SYSDATE(6)
    WHERE FIND_IN_SET(a.n, taken) > 0;
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
    SELECT l.name, UNHEX(a.hold), UNHEX(a.lease), a.weight, l.token, SYSDATE(6)
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                               lease VARCHAR(32) PATH '$[3]', hold VARCHAR(32) PATH '$[4]',
                                               weight BIGINT PATH '$[6]')) AS a
    STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
    WHERE FIND_IN_SET(a.n, taken) > 0;
    COMMIT;
    SELECT HEX(p.hold_id), p.token
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                               hold VARCHAR(32) PATH '$[4]')) AS a
    STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold)
    WHERE FIND_IN_SET(a.n, taken) > 0;
  END IF;
END;
