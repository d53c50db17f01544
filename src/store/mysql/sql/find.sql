-- :holds as [name, hold]. A hold or waiter whose lease is missing is dead, and so absent. The takeover is that of the
-- first lease that stands in the way: the exclusive holder's, or else of the permits and of the head of the queue.
SELECT a.n,
       COALESCE(l.hold_id = UNHEX(a.hold) AND h.id IS NOT NULL, 0) OR g.id IS NOT NULL,
       COALESCE(p.token, l.token),
       HEX(COALESCE(p.lease_id, l.lease_id)),
       HEX(w.id),
       CASE WHEN l.name IS NULL THEN NULL
            WHEN l.lease_id IS NOT NULL THEN COALESCE(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), 0)
            WHEN l.in_use = 0 OR g.id IS NOT NULL THEN 0
            ELSE LEAST(COALESCE((SELECT MIN(COALESCE(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), sl.expires_at), 0))
                                 FROM rowlock_permit AS s
                                 LEFT JOIN rowlock_lease AS sl ON sl.id = s.lease_id
                                 WHERE s.name = l.name AND l.kind <> 'latch'), 0),
                       COALESCE((SELECT COALESCE(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), fl.expires_at), 0)
                                 FROM rowlock_queue AS f
                                 LEFT JOIN rowlock_lease AS fl ON fl.id = f.lease_id
                                 WHERE f.name = l.name AND f.ticket >= l.head_ticket
                                 ORDER BY f.ticket
                                 LIMIT 1), 9223372036854775807))
       END,
       l.kind,
       l.capacity,
       l.has_queue,
       l.in_use,
       l.fair,
       COALESCE(l.request_token >= COALESCE(p.token, l.token), 0)
FROM JSON_TABLE(:holds, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        hold VARCHAR(32) PATH '$[1]')) AS a
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN rowlock_permit AS p ON (l.in_use > 0 OR l.kind = 'barrier') AND p.name = l.name AND p.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS g ON g.id = p.lease_id
LEFT JOIN rowlock_queue AS q ON l.has_queue AND q.name = l.name AND q.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id;
