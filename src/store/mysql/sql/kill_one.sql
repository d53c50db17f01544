-- As kill_take, for a single lease, and deletes it at once.
DELETE l
FROM (
  SELECT k.id
  FROM rowlock_lease AS k
  WHERE (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :identity
    AND k.id = UNHEX(:lease) AND k.expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS expired
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = expired.id;
