-- A page of locks behind the name $1, $2 at most: those that name a missing lease, as holder or in the queue, and the
-- last of the page, behind which the next one begins where there is one. The permits of a latch outlive their leases.
WITH page AS MATERIALIZED (
  SELECT name, kind, lease_id, has_queue, head_ticket
  FROM rowlock_lock
  WHERE name > $1::text
  ORDER BY name
  LIMIT $2::bigint
),
judged AS (
  SELECT l.name,
         l.lease_id IS NOT NULL AND NOT EXISTS (SELECT FROM rowlock_lease AS h WHERE h.id = l.lease_id)
         OR l.has_queue AND EXISTS (
           SELECT
           FROM rowlock_queue AS q
           LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
           WHERE q.name = l.name AND q.ticket >= l.head_ticket AND w.id IS NULL
         )
         OR l.kind <> 'latch' AND EXISTS (
           SELECT
           FROM rowlock_permit AS p
           LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
           WHERE p.name = l.name AND h.id IS NULL
         ) AS is_stale
  FROM page AS l
)
SELECT name, is_stale, (SELECT count(*) FROM page) = $2::bigint AS more
FROM judged
WHERE is_stale OR name = (SELECT max(name) FROM page)
ORDER BY name;
