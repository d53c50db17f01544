-- The new clock may be ahead of the one that these were written by.
UPDATE rowlock_lease
   SET expires_at = expires_at + (SELECT max(ttl_ms) FROM rowlock_lease) * 1000;
