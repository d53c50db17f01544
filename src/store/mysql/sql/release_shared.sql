-- Frees a batch of permits, and tells which: :requests as [name, lease, hold]. As release_shared_one; what is locked
-- keeps back its own name alone. MariaDB only.
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
    LIMIT 1000000
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
    LIMIT 1000000
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
    SELECT a.hold
    FROM JSON_TABLE(:requests, '$[*]' COLUMNS (n FOR ORDINALITY, hold VARCHAR(32) PATH '$[2]')) AS a
    WHERE FIND_IN_SET(a.n, taken) > 0;
  END IF;
END;
