-- Answers what read_database_state answers, with one row for each of :leases, and one row where there is none.
SELECT m.identity, m.epoch_floor, COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), ''), m.skew_ms,
       m.cluster_seen, HEX(l.id), l.notice
FROM rowlock_meta AS m
LEFT JOIN (JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
           JOIN rowlock_lease AS l ON l.id = UNHEX(a.id)) ON TRUE
WHERE m.id = 1;
