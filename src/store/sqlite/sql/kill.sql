DELETE FROM rowlock_lease
 WHERE id = ?1
   AND expires_at + ?2 <= CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER);
