-- An expired lease is never renewed, though it lives until it is killed.
UPDATE rowlock_lease
   SET expires_at = CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) + ttl_ms * 1000
 WHERE id = ?1
   AND expires_at > CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
RETURNING notice;
