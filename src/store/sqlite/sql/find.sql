-- A hold or a place in the queue whose lease is missing is none. The takeover is that of the first lease that stands in
-- the way: the exclusive holder's, or else of the permits and of the head of the queue.
SELECT (k.hold_id IS ?2 AND h.id IS NOT NULL) OR pl.id IS NOT NULL,
       coalesce(p.token, k.token), coalesce(p.lease_id, k.lease_id),
       w.id,
       CASE WHEN k.lease_id IS NOT NULL
            THEN coalesce(h.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), 0)
            ELSE min(coalesce((SELECT min(coalesce(l.expires_at
                                            - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), 0))
                                 FROM rowlock_permit s
                                 LEFT JOIN rowlock_lease l ON l.id = s.lease_id
                                WHERE s.name = k.name AND k.kind <> 'latch'), 0),
                     coalesce((SELECT coalesce(l.expires_at
                                            - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), 0)
                                 FROM rowlock_queue f
                                 LEFT JOIN rowlock_lease l ON l.id = f.lease_id
                                WHERE f.name = k.name
                                ORDER BY f.ticket
                                LIMIT 1), 9223372036854775807))
       END,
       k.kind, k.capacity, k.has_queue, k.in_use, k.fair,
       coalesce(k.request_token >= coalesce(p.token, k.token), 0)
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease h ON h.id = k.lease_id
  LEFT JOIN rowlock_permit p ON p.name = k.name AND p.hold_id = ?2
  LEFT JOIN rowlock_lease pl ON pl.id = p.lease_id
  LEFT JOIN rowlock_queue q ON q.name = k.name AND q.hold_id = ?2
  LEFT JOIN rowlock_lease w ON w.id = q.lease_id
 WHERE k.name = ?1;
