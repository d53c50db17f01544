-- Locks that name a missing lease, as holder or in the queue. $1 limit.
SELECT l.name
FROM rowlock_lock AS l
WHERE l.lease_id IS NOT NULL AND NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = l.lease_id)
UNION
SELECT q.name
FROM rowlock_queue AS q
WHERE NOT EXISTS (SELECT FROM rowlock_lease AS w WHERE w.id = q.lease_id)
LIMIT $1::bigint;
