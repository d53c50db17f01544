-- $1 names, $2 holds; several holds may be of one name. A hold or waiter whose lease is missing is dead, and so absent.
-- The takeover is that of the first lease that stands in the way: the exclusive holder's, or else of the permits and of
-- the head of the queue; it is read once for each name. OFFSET 0 keeps each look-up by name and hold one look at the
-- key, whatever the tables were like when this was planned: joined otherwise, each hold would meet all of its name.
SELECT a.n,
       coalesce(l.hold_id = a.hold_id AND h.id IS NOT NULL, false) OR p.lease_id IS NOT NULL AS held,
       coalesce(p.token, l.token) AS token,
       coalesce(p.lease_id, l.lease_id) AS lease_id,
       q.lease_id AS queued_lease_id,
       CASE WHEN l.name IS NULL THEN NULL
            WHEN l.lease_id IS NOT NULL
            THEN coalesce((extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint, 0)
            ELSE least(coalesce(min(s.expires_us) OVER of_name, 0), min(f.expires_us) OVER of_name)
       END AS takeover_us,
       l.kind,
       l.capacity,
       l.has_queue,
       l.in_use,
       l.fair,
       coalesce(l.request_token >= coalesce(p.token, l.token), false) AS is_asked_for
FROM (
  SELECT name, hold_id, n, row_number() OVER (PARTITION BY name ORDER BY n) = 1 AS is_first
  FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS given (name, hold_id, n)
) AS a
LEFT JOIN rowlock_lock AS l ON l.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN LATERAL (
  SELECT p.token, p.lease_id
  FROM rowlock_permit AS p
  JOIN rowlock_lease AS w ON w.id = p.lease_id
  WHERE l.lease_id IS NULL AND (l.in_use > 0 OR l.kind = 'barrier') AND p.name = l.name AND p.hold_id = a.hold_id
  OFFSET 0
) AS p ON true
LEFT JOIN LATERAL (
  SELECT min(coalesce((extract(epoch FROM w.expires_at - clock_timestamp()) * 1000000)::bigint, 0)) AS expires_us
  FROM rowlock_permit AS s
  LEFT JOIN rowlock_lease AS w ON w.id = s.lease_id
  WHERE a.is_first AND l.lease_id IS NULL AND l.in_use > 0 AND l.kind <> 'latch' AND s.name = l.name
) AS s ON true
LEFT JOIN LATERAL (
  SELECT coalesce((extract(epoch FROM w.expires_at - clock_timestamp()) * 1000000)::bigint, 0) AS expires_us
  FROM rowlock_queue AS f
  LEFT JOIN rowlock_lease AS w ON w.id = f.lease_id
  WHERE a.is_first AND l.lease_id IS NULL AND l.in_use > 0 AND f.name = l.name AND f.ticket >= l.head_ticket
  ORDER BY f.ticket
  LIMIT 1
) AS f ON true
LEFT JOIN LATERAL (
  SELECT w.id AS lease_id
  FROM rowlock_queue AS q
  JOIN rowlock_lease AS w ON w.id = q.lease_id
  WHERE l.has_queue AND q.name = l.name AND q.hold_id = a.hold_id
  OFFSET 0
) AS q ON true
WINDOW of_name AS (PARTITION BY a.name)
ORDER BY a.n;
