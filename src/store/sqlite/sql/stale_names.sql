-- A page of locks behind the name ?1, ?2 at most: each with whether it names a missing lease, as holder or in the queue.
-- The permits of a latch outlive their leases.
SELECT k.name,
       k.lease_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rowlock_lease l WHERE l.id = k.lease_id)
       OR k.has_queue AND EXISTS (SELECT 1
                                    FROM rowlock_queue q
                                    LEFT JOIN rowlock_lease w ON w.id = q.lease_id
                                   WHERE q.name = k.name AND w.id IS NULL)
       OR k.kind <> 'latch' AND EXISTS (SELECT 1
                                          FROM rowlock_permit p
                                          LEFT JOIN rowlock_lease h ON h.id = p.lease_id
                                         WHERE p.name = k.name AND h.id IS NULL)
  FROM rowlock_lock k
 WHERE k.name > ?1
 ORDER BY k.name
 LIMIT ?2;
