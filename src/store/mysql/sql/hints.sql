-- :leases. A sum that differs from the last one: something may have changed for one of these clients.
SELECT COALESCE(SUM(l.wakes + l.notice), 0)
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l ON l.id = UNHEX(a.id);
