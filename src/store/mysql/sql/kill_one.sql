-- WHERE is asked once the row is held, as in renew_one: the two meet there.
DELETE FROM rowlock_lease WHERE id = UNHEX(:lease) AND expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6);
