-- The new clock may be ahead of the one that these were written by, or behind: each expires its own ttl from now.
UPDATE rowlock_lease
   SET expires_at = CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) + ttl_ms * 1000;
