-- A page of locks behind the name :after, :most at most: each with whether it names a missing lease, as holder or in
-- the queue. The permits of a latch outlive their leases.
SELECT l.name,
       (l.lease_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rowlock_lease AS h WHERE h.id = l.lease_id))
       OR (l.has_queue AND EXISTS (SELECT 1
                                   FROM rowlock_queue AS q
                                   LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
                                   WHERE q.name = l.name AND w.id IS NULL))
       OR (l.kind <> 'latch' AND EXISTS (SELECT 1
                                         FROM rowlock_permit AS p
                                         LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
                                         WHERE p.name = l.name AND h.id IS NULL))
FROM (
  SELECT k.name, k.kind, k.lease_id, k.has_queue
  FROM rowlock_lock AS k FORCE INDEX (PRIMARY)
  WHERE k.name > :after
  ORDER BY k.name
  LIMIT :most
) AS l
ORDER BY l.name;
