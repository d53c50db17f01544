-- :woken, leases of clients for whom something has changed. They ask for it (hints). One that is locked, by its renewal, is
-- left out: its client's poll makes up for that.
UPDATE (
  SELECT k.id
  FROM JSON_TABLE(:woken, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
  STRAIGHT_JOIN rowlock_lease AS k FORCE INDEX (PRIMARY) ON k.id = UNHEX(a.id)
  LIMIT 1000000
  FOR UPDATE SKIP LOCKED
) AS woken
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = woken.id
SET l.wakes = l.wakes + 1;
