-- :names, which this transaction holds.
DELETE l
FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_queue AS q ON q.name = l.name
LEFT JOIN rowlock_permit AS p ON p.name = l.name
WHERE q.name IS NULL AND p.name IS NULL;
