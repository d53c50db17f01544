SELECT k.name, k.kind, k.capacity, k.in_use, k.token, k.next_ticket, k.lease_id, k.hold_id, k.has_queue,
       (SELECT count(*)
          FROM rowlock_queue q
          JOIN rowlock_lease w ON w.id = q.lease_id
         WHERE q.name = k.name),
       l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms,
       l.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER),
       CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) - k.used_at
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease l ON l.id = k.lease_id
 ORDER BY k.name;
