-- The new clock may be ahead of the one that these were written by.
UPDATE rowlock_lease SET expires_at = expires_at + INTERVAL :ttl_ms * 1000 MICROSECOND ORDER BY id;
