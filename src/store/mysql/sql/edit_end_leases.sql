-- :ended, explicit-ttl leases. This transaction holds lock rows, so it waits for nobody: a lease that is skipped is
-- being killed, or expires by itself.
DELETE l
FROM (
  SELECT k.id
  FROM JSON_TABLE(:ended, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
  STRAIGHT_JOIN rowlock_lease AS k FORCE INDEX (PRIMARY) ON k.id = UNHEX(a.id)
  LIMIT 1000000
  FOR UPDATE SKIP LOCKED
) AS t
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = t.id;
