-- What stands on the leases of a client, of the names of a page. ?1 client, ?2 after, ?3 the last name.
SELECT k.name, k.hold_id, k.lease_id, 'exclusive', 0
  FROM rowlock_lock k
  JOIN rowlock_lease l ON l.id = k.lease_id
 WHERE k.name > ?2 AND k.name <= ?3 AND l.client_id = ?1
 UNION ALL
SELECT p.name, p.hold_id, p.lease_id, 'shared', 0
  FROM rowlock_permit p
  JOIN rowlock_lease l ON l.id = p.lease_id
 WHERE p.name > ?2 AND p.name <= ?3 AND l.client_id = ?1
 UNION ALL
SELECT q.name, q.hold_id, q.lease_id, q.mode, 1
  FROM rowlock_queue q
  JOIN rowlock_lease l ON l.id = q.lease_id
 WHERE q.name > ?2 AND q.name <= ?3 AND l.client_id = ?1;
