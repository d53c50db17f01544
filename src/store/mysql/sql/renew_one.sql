-- WHERE is asked once the row is held, and SYSDATE reads the clock then: a renewal that waited renews nothing that
-- has expired meanwhile.
UPDATE rowlock_lease
SET expires_at = SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND
WHERE id = UNHEX(:lease) AND expires_at > SYSDATE(6);
