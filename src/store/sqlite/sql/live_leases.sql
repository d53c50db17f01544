SELECT count(*)
  FROM rowlock_lease
 WHERE expires_at > CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER);
