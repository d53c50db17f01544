-- Takes the write lock, which alone proves the hold until the transaction ends, and renews the lease. With
-- the lock row or the permit naming a lease that is gone there is no row, and so no proof. An expired lease keeps its
-- time: it is never renewed, and nobody can kill it before this transaction ends.
UPDATE rowlock_lease
   SET expires_at = iif(expires_at > CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER),
                        CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) + ttl_ms * 1000,
                        expires_at)
 WHERE id = (SELECT lease_id FROM rowlock_lock WHERE name = ?1 AND hold_id = ?2
             UNION ALL
             SELECT lease_id FROM rowlock_permit WHERE name = ?1 AND hold_id = ?2)
RETURNING 1;
