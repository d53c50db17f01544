SELECT q.ticket, q.hold_id, q.lease_id, q.weight, q.mode,
       l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms,
       l.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
  FROM rowlock_queue q
  LEFT JOIN rowlock_lease l ON l.id = q.lease_id
 WHERE q.name = ?1
 ORDER BY q.ticket;
