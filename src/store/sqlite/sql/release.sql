-- name: release
UPDATE rowlock_lock
   SET lease_id = NULL, hold_id = NULL, in_use = 0
 WHERE name = ?1
   AND lease_id = ?2
   AND hold_id = ?3
   AND NOT (has_queue AND fair);

-- name: release_shared
-- release_shared_weight takes the weight out of the lock's row.
DELETE FROM rowlock_permit
 WHERE name = ?1
   AND lease_id = ?2
   AND hold_id = ?3
   AND EXISTS (SELECT 1 FROM rowlock_lock k WHERE k.name = ?1 AND NOT (k.has_queue AND k.fair))
RETURNING weight;

-- name: release_shared_weight
UPDATE rowlock_lock SET in_use = in_use - ?2 WHERE name = ?1;
