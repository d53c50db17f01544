-- name: acquire
-- ?6 is the epoch's floor, read in the same transaction; ?7 is fairness.
UPDATE rowlock_lock
   SET lease_id = ?2, hold_id = ?3, in_use = capacity, token = max(token + 1, ?6),
       used_at = :now_us
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?7
   AND lease_id IS NULL
   AND in_use = 0
   AND NOT (has_queue AND fair)
RETURNING token;

-- name: acquire_shared
-- As acquire, for a permit: ?2 is its hold, ?3 its weight. edit_add_permits writes the row of the permit.
UPDATE rowlock_lock
   SET in_use = in_use + ?3, token = max(token + 1, ?6),
       used_at = :now_us
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?7
   AND lease_id IS NULL
   AND in_use + ?3 <= capacity
   AND NOT (has_queue AND fair)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = ?1 AND p.hold_id = ?2)
RETURNING token;
