SELECT k.kind, k.capacity, k.in_use, k.token, k.next_ticket, k.lease_id, k.hold_id, k.has_queue,
       k.fair, k.delay_ms,
       l.client_id,
       l.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease l ON l.id = k.lease_id
 WHERE k.name = ?1;
