-- As release, for a single request: $1 name, $2 lease, $3 hold, $4 synchronous_commit.
UPDATE rowlock_lock AS l
SET lease_id = NULL,
    hold_id = NULL,
    in_use = 0
WHERE l.ctid = (
    SELECT ctid
    FROM rowlock_lock
    WHERE name = $1::text AND lease_id = $2::uuid AND hold_id = $3::uuid AND NOT (has_queue AND fair)
    FOR UPDATE SKIP LOCKED
  )
  AND l.lease_id = $2::uuid
  AND l.hold_id = $3::uuid
  AND NOT (l.has_queue AND l.fair)
RETURNING $3::uuid, set_config('synchronous_commit', $4::text, true);
