-- ?6: the epoch's floor, read in the same transaction; ?7: fairness.
UPDATE rowlock_lock
   SET lease_id = ?2, hold_id = ?3, in_use = capacity, token = max(token + 1, ?6),
       used_at = CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
 WHERE name = ?1
   AND kind = ?4
   AND capacity = ?5
   AND fair = ?7
   AND lease_id IS NULL
   AND in_use = 0
   AND NOT (has_queue AND fair)
RETURNING token;
