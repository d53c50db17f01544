-- Frees a batch of permits. $1 names, $2 leases, $3 holds, $4 synchronous_commit for this commit alone.
-- NO KEY UPDATE of the lock's row lives with the FOR KEY SHARE of a guarded transaction, and FOR UPDATE of the permit is
-- refused by that of its own guard: such a permit is skipped, and others beside it are freed. While a permit is guarded
-- it counts in in_use, so nobody gets the lock alone.
-- Only what the DELETE took is taken from in_use, and it takes nothing where the lock's row was written after this
-- statement's snapshot: that row's new place is outside of it, for the permits as for the UPDATE. So both see the newest
-- row, which is held, and the permits that belong to it; of two that release the same hold the later one skips the row
-- or finds it moved. RETURNING runs for every row written, so the setting cannot be left out.
WITH taken AS MATERIALIZED (
  SELECT l.ctid AS place, a.name, a.lease_id, a.hold_id
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::uuid[], $3::uuid[]) AS a (name, lease_id, hold_id) ON a.name = l.name
  WHERE NOT (l.has_queue AND l.fair)
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
),
loose AS MATERIALIZED (
  SELECT p.permit, t.place
  FROM taken AS t
  JOIN rowlock_lock AS l ON l.ctid = t.place AND NOT (l.has_queue AND l.fair)
  CROSS JOIN LATERAL (
    SELECT g.ctid AS permit
    FROM rowlock_permit AS g
    WHERE g.name = t.name AND g.hold_id = t.hold_id AND g.lease_id = t.lease_id
    FOR UPDATE SKIP LOCKED
  ) AS p
),
freed AS (
  DELETE FROM rowlock_permit AS p
  USING loose AS f
  WHERE p.ctid = f.permit
  RETURNING f.place, p.hold_id, p.weight
)
UPDATE rowlock_lock AS l
SET in_use = l.in_use - f.weight
FROM freed AS f
WHERE l.ctid = f.place
RETURNING f.hold_id, set_config('synchronous_commit', $4::text, true);
