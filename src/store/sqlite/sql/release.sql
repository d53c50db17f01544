UPDATE rowlock_lock
   SET lease_id = NULL, hold_id = NULL, in_use = 0
 WHERE name = ?1
   AND lease_id = ?2
   AND hold_id = ?3
   AND NOT (has_queue AND fair);
