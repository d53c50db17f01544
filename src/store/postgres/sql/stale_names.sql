-- Locks that name a missing lease, as holder or in the queue. The permits of a latch outlive their leases. $1 limit.
SELECT l.name
FROM rowlock_lock AS l
WHERE l.lease_id IS NOT NULL AND NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = l.lease_id)
UNION
SELECT q.name
FROM rowlock_queue AS q
WHERE NOT EXISTS (SELECT FROM rowlock_lease AS w WHERE w.id = q.lease_id)
UNION
SELECT p.name
FROM rowlock_permit AS p
JOIN rowlock_lock AS l ON l.name = p.name
WHERE l.kind <> 'latch' AND NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = p.lease_id)
LIMIT $1::bigint;
