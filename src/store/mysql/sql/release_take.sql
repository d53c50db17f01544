-- Which of :requests, [name, lease, hold], may be freed; held from here on.
SELECT HEX(k.name), HEX(k.hold_id)
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', lease VARCHAR(32) PATH '$[1]',
                                           hold VARCHAR(32) PATH '$[2]')) AS a
STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY)
  ON k.name = UNHEX(a.name) AND k.lease_id = UNHEX(a.lease) AND k.hold_id = UNHEX(a.hold)
WHERE NOT (k.has_queue AND k.fair)
FOR UPDATE SKIP LOCKED;
