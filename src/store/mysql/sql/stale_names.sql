-- Locks that name a missing lease, as holder or in the queue. The permits of a latch outlive their leases.
SELECT l.name
FROM rowlock_lock AS l
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE l.lease_id IS NOT NULL AND h.id IS NULL
UNION
SELECT q.name
FROM rowlock_queue AS q
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE w.id IS NULL
UNION
SELECT p.name
FROM rowlock_permit AS p
JOIN rowlock_lock AS l ON l.name = p.name
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE l.kind <> 'latch' AND h.id IS NULL
LIMIT :most;
