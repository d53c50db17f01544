-- Of the next names: what stands on the leases of a client. The row without a hold names the last of them, where there
-- may be more. $1 client, $2 after, $3 how many names.
WITH page AS MATERIALIZED (
  SELECT l.name, l.hold_id, l.lease_id
  FROM rowlock_lock AS l
  WHERE l.name > $2::text
  ORDER BY l.name
  LIMIT $3::bigint
), ends AS MATERIALIZED (
  SELECT max(name) AS name, count(*) AS names FROM page
)
SELECT e.name, NULL::uuid AS hold_id, NULL::uuid AS lease_id, 'exclusive' AS mode, false AS queued
FROM ends AS e
WHERE e.names = $3::bigint
UNION ALL
SELECT l.name, l.hold_id, l.lease_id, 'exclusive', false
FROM page AS l JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE h.client_id = $1::uuid
UNION ALL
SELECT p.name, p.hold_id, p.lease_id, 'shared', false
FROM rowlock_permit AS p JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE p.name > $2::text AND p.name <= (SELECT name FROM ends) AND h.client_id = $1::uuid
UNION ALL
SELECT q.name, q.hold_id, q.lease_id, q.mode, true
FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name > $2::text AND q.name <= (SELECT name FROM ends) AND w.client_id = $1::uuid;
