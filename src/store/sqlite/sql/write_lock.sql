-- ?10: whether the holder is new.
UPDATE rowlock_lock
   SET kind = ?2, capacity = ?3, in_use = ?4, token = ?5, next_ticket = ?6, lease_id = ?7, hold_id = ?8,
       has_queue = ?9,
       used_at = iif(?10, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), used_at)
 WHERE name = ?1;
