SELECT name
  FROM rowlock_lock
 WHERE lease_id IS NOT NULL
   AND lease_id NOT IN (SELECT id FROM rowlock_lease)
 UNION
SELECT name
  FROM rowlock_queue
 WHERE lease_id NOT IN (SELECT id FROM rowlock_lease)
 UNION
SELECT p.name
  FROM rowlock_permit p
  JOIN rowlock_lock k ON k.name = p.name
 WHERE k.kind <> 'latch'
   AND p.lease_id NOT IN (SELECT id FROM rowlock_lease)
 LIMIT ?1;
