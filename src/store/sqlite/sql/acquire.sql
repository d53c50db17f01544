-- name: acquire
-- ?6 is fairness. The floor cannot change while this transaction has the write lock.
UPDATE rowlock_lock
   SET lease_id = ?2, hold_id = ?3, in_use = capacity,
       token = max(token + 1, (SELECT max(epoch_floor, token_floor) FROM rowlock_meta WHERE id = 1)),
       used_at = :now_us
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?6
   AND lease_id IS NULL
   AND in_use = 0
   AND NOT (has_queue AND fair)
RETURNING token;

-- name: acquire_shared
-- As acquire, for a permit: ?2 is its hold, ?3 its weight. edit_add_permits writes the row of the permit.
UPDATE rowlock_lock
   SET in_use = in_use + ?3,
       token = max(token + 1, (SELECT max(epoch_floor, token_floor) FROM rowlock_meta WHERE id = 1)),
       used_at = :now_us
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?6
   AND lease_id IS NULL
   AND in_use + ?3 <= capacity
   AND NOT (has_queue AND fair)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = ?1 AND p.hold_id = ?2)
RETURNING token;
