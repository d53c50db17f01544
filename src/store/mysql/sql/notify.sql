-- :woken, leases of clients for whom something has changed. They ask for it (hints).
UPDATE JSON_TABLE(:woken, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.wakes = l.wakes + 1;
