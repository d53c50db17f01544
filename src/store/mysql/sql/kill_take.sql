-- :leases, sorted. A row that somebody holds is being renewed or killed: it is skipped.
SELECT HEX(l.id)
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
WHERE l.expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
FOR UPDATE SKIP LOCKED;
