-- The new clock may be ahead of the one that these were written by, or behind: each expires its own ttl from now.
UPDATE rowlock_lease SET expires_at = SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND ORDER BY id;
