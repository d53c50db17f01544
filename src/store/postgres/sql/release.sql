-- Frees a batch. $1 names, $2 leases, $3 holds, $4 synchronous_commit for this commit alone.
-- FOR UPDATE, unlike what acquire takes, is refused by the FOR KEY SHARE of a guarded transaction: such a row
-- is skipped and its hold stands. RETURNING runs for every row written, so the setting cannot be left out.
WITH taken AS MATERIALIZED (
  SELECT l.ctid AS place, a.lease_id, a.hold_id
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::uuid[], $3::uuid[]) AS a (name, lease_id, hold_id)
    ON l.name = a.name AND l.lease_id = a.lease_id AND l.hold_id = a.hold_id
  WHERE NOT (l.has_queue AND l.fair)
  ORDER BY l.name
  FOR UPDATE OF l SKIP LOCKED
)
UPDATE rowlock_lock AS l
SET lease_id = NULL,
    hold_id = NULL,
    in_use = 0
FROM taken AS t
WHERE l.ctid = t.place
  AND l.lease_id = t.lease_id
  AND l.hold_id = t.hold_id
  AND NOT (l.has_queue AND l.fair)
RETURNING t.hold_id, set_config('synchronous_commit', $4::text, true);
