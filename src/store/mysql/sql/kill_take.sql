-- :leases, sorted. A row that somebody holds is being renewed or killed: it is skipped. Where meta does not
-- name this server nobody is killed: its clock may be another one.
SELECT HEX(l.id)
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
WHERE (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :identity
  AND l.expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
FOR UPDATE SKIP LOCKED;
