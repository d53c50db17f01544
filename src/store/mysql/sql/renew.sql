-- :leases, which this transaction holds.
UPDATE JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.expires_at = SYSDATE(6) + INTERVAL l.ttl_ms * 1000 MICROSECOND;
