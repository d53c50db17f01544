-- :removed as [name, hold].
DELETE p
FROM JSON_TABLE(:removed, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name) AND p.hold_id = UNHEX(a.hold);
