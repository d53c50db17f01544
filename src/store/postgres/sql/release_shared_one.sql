-- As release_shared, for a single request: $1 name, $2 lease, $3 hold, $4 synchronous_commit.
WITH taken AS MATERIALIZED (
  SELECT ctid AS place
  FROM rowlock_lock
  WHERE name = $1::text AND NOT (has_queue AND fair)
  FOR NO KEY UPDATE SKIP LOCKED
),
loose AS MATERIALIZED (
  SELECT p.ctid AS permit
  FROM rowlock_permit AS p
  WHERE p.name = $1::text
    AND p.hold_id = $3::uuid
    AND p.lease_id = $2::uuid
    AND EXISTS (
      SELECT FROM rowlock_lock AS l WHERE l.ctid = (SELECT place FROM taken) AND NOT (l.has_queue AND l.fair)
    )
  FOR UPDATE SKIP LOCKED
),
freed AS (
  DELETE FROM rowlock_permit AS p
  WHERE p.ctid = (SELECT permit FROM loose)
  RETURNING p.weight
)
UPDATE rowlock_lock AS l
SET in_use = l.in_use - f.weight
FROM freed AS f
WHERE l.ctid = (SELECT place FROM taken)
RETURNING $3::uuid, set_config('synchronous_commit', $4::text, true);
