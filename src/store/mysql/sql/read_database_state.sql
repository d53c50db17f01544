-- What tells whether the database is still the one that it was, beside the server's own identity.
SELECT m.identity, m.epoch_floor, COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), ''), m.skew_ms,
       m.cluster_seen
FROM rowlock_meta AS m
WHERE m.id = 1;
