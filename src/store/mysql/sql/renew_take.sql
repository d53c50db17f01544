-- :leases, sorted. Those that may be renewed, held from here on.
SELECT HEX(l.id)
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
WHERE l.expires_at > SYSDATE(6)
FOR UPDATE;
