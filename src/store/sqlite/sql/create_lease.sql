-- Sent again after a lost answer it renews; a lease that expired meanwhile stays as it is.
INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6,
        CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER),
        CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) + ?6 * 1000)
ON CONFLICT (id) DO UPDATE
   SET expires_at = excluded.expires_at
 WHERE expires_at > excluded.created_at;
