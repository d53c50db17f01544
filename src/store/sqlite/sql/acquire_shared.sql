-- As acquire, for a permit: ?2 its hold, ?3 its weight. The row of the permit is written by add_permits.
UPDATE rowlock_lock
   SET in_use = in_use + ?3, token = max(token + 1, ?6),
       used_at = CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?7
   AND lease_id IS NULL
   AND in_use + ?3 <= capacity
   AND NOT (has_queue AND fair)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = ?1 AND p.hold_id = ?2)
RETURNING token;
