-- :leases, by their owner, or held by this transaction.
DELETE l
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id);
