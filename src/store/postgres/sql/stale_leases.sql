-- $1 skew in microseconds, $2 limit.
SELECT id
FROM rowlock_lease
WHERE expires_at + $1::bigint * interval '1 microsecond' <= clock_timestamp()
ORDER BY expires_at
LIMIT $2::bigint;
