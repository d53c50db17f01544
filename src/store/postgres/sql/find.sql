-- $1 names, $2 holds. A hold or waiter whose lease is missing is dead, and so absent.
SELECT a.n,
       l.hold_id = a.hold_id AND h.id IS NOT NULL AS held,
       l.token,
       l.lease_id,
       q.lease_id AS queued_lease_id,
       CASE WHEN l.name IS NULL THEN NULL
            WHEN h.id IS NULL THEN 0
            ELSE (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint
       END AS takeover_us,
       l.kind,
       l.capacity,
       l.has_queue
FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS a (name, hold_id, n)
LEFT JOIN rowlock_lock AS l ON l.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN LATERAL (
  SELECT w.id AS lease_id
  FROM rowlock_queue AS q
  JOIN rowlock_lease AS w ON w.id = q.lease_id
  WHERE l.has_queue AND q.name = a.name AND q.hold_id = a.hold_id
) AS q ON true
ORDER BY a.n;
