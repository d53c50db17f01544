-- :names, whose rows this transaction holds.
UPDATE JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.lease_id = NULL, l.hold_id = NULL, l.in_use = 0;
