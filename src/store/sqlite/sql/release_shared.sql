-- The weight leaves the lock's row by release_weight.
DELETE FROM rowlock_permit
 WHERE name = ?1
   AND lease_id = ?2
   AND hold_id = ?3
   AND EXISTS (SELECT 1 FROM rowlock_lock k WHERE k.name = ?1 AND NOT (k.has_queue AND k.fair))
RETURNING weight;
