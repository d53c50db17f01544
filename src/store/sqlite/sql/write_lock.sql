-- A lock keeps its kind, also one that this version does not know. ?9: whether the holder is new.
UPDATE rowlock_lock
   SET capacity = ?2, in_use = ?3, token = ?4, next_ticket = ?5, lease_id = ?6, hold_id = ?7, has_queue = ?8,
       used_at = iif(?9, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), used_at)
 WHERE name = ?1;
