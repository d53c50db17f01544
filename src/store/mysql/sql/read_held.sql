-- What stands on the leases of a client, of the names of a page.
SELECT l.name, HEX(l.hold_id), HEX(l.lease_id), 'exclusive', 0
FROM rowlock_lock AS l JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE l.name > :after AND l.name <= :last AND h.client_id = :client
UNION ALL
SELECT p.name, HEX(p.hold_id), HEX(p.lease_id), 'shared', 0
FROM rowlock_permit AS p JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE p.name > :after AND p.name <= :last AND h.client_id = :client
UNION ALL
SELECT q.name, HEX(q.hold_id), HEX(q.lease_id), q.mode, 1
FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name > :after AND q.name <= :last AND w.client_id = :client;
