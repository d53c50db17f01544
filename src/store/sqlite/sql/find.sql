-- A hold or a place in the queue whose lease is missing is none.
SELECT k.hold_id IS ?2 AND h.id IS NOT NULL, k.token, k.lease_id,
       w.id,
       iif(h.id IS NULL, 0,
           h.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)),
       k.kind, k.capacity, k.has_queue
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease h ON h.id = k.lease_id
  LEFT JOIN rowlock_queue q ON q.name = k.name AND q.hold_id = ?2
  LEFT JOIN rowlock_lease w ON w.id = q.lease_id
 WHERE k.name = ?1;
