-- name: guard
-- Takes the write lock, which by itself proves the hold until the transaction ends, and renews the lease. If the
-- lock's row or the permit names a lease that does not exist, no row is returned, so nothing is proven. An expired
-- lease keeps its time: it is never renewed, and nobody can kill it before this transaction ends.
UPDATE rowlock_lease
   SET expires_at = iif(expires_at > :now_us,
                        :now_us + ttl_ms * 1000,
                        expires_at)
 WHERE id = (SELECT lease_id FROM rowlock_lock WHERE name = ?1 AND hold_id = ?2
             UNION ALL
             SELECT lease_id FROM rowlock_permit WHERE name = ?1 AND hold_id = ?2)
RETURNING 1;
