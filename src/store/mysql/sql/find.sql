-- :holds as [name, hold]. A hold or waiter whose lease is missing is dead, and so absent.
SELECT a.n,
       COALESCE(l.hold_id = UNHEX(a.hold) AND h.id IS NOT NULL, 0),
       l.token,
       HEX(l.lease_id),
       HEX(w.id),
       IF(l.name IS NULL, NULL, IF(h.id IS NULL, 0, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at))),
       l.kind,
       l.capacity,
       l.has_queue
FROM JSON_TABLE(:holds, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        hold VARCHAR(32) PATH '$[1]')) AS a
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN rowlock_queue AS q ON l.has_queue AND q.name = l.name AND q.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id;
