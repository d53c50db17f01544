-- As renewed, for one :lease, or for none where it is ''.
SELECT m.identity, m.epoch_floor, COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), ''), m.skew_ms,
       m.cluster_seen, HEX(l.id), l.notice
FROM rowlock_meta AS m
LEFT JOIN rowlock_lease AS l ON l.id = UNHEX(:lease)
WHERE m.id = 1;
