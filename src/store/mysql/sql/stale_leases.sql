SELECT HEX(id)
FROM rowlock_lease
WHERE expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
ORDER BY expires_at
LIMIT :most;
