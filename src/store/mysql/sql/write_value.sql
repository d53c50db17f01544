-- :proclaimed as [name, value]: what the holders of offices proclaim, of at most 4,117 bytes with its token. This
-- transaction holds the rows.
UPDATE JSON_TABLE(:proclaimed, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', value VARCHAR(9000) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.value = UNHEX(a.value);
