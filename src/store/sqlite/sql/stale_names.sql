SELECT name
  FROM rowlock_lock
 WHERE lease_id IS NOT NULL
   AND lease_id NOT IN (SELECT id FROM rowlock_lease)
 UNION
SELECT name
  FROM rowlock_queue
 WHERE lease_id NOT IN (SELECT id FROM rowlock_lease)
 LIMIT ?1;
