SELECT p.hold_id, p.lease_id, p.weight, p.token, l.client_id,
       l.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
  FROM rowlock_permit p
  LEFT JOIN rowlock_lease l ON l.id = p.lease_id
 WHERE p.name = ?1
 ORDER BY p.token;
