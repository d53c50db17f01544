-- Reads what an edit decides from, after its rows are held. :asked as [name, about].
-- part 0 the lock and its holder's lease, 2 the waiter that was asked about, 3 its permits. The head of its queue is
-- read by edit_queue.
SELECT 0 AS part, a.n AS n, l.next_ticket AS ticket, HEX(l.lease_id), HEX(l.hold_id), HEX(h.client_id),
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), NULL, NULL, l.token AS token,
       l.name IS NOT NULL, FIND_IN_SET(a.n, @rowlock_taken) > 0,
       l.kind, l.capacity, l.in_use, l.has_queue, l.fair, l.delay_ms, m.epoch_floor, m.identity = :identity,
       l.head_ticket
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
JOIN rowlock_meta AS m ON m.id = 1
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
UNION ALL
SELECT 2, a.n, q.ticket, HEX(q.lease_id), HEX(q.hold_id), NULL,
       NULL, q.weight, q.mode, NULL,
       NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        about VARCHAR(32) PATH '$[1]')) AS a
JOIN rowlock_queue AS q ON q.name = UNHEX(a.name) AND q.hold_id = UNHEX(a.about)
WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0
UNION ALL
SELECT 3, a.n, NULL, HEX(p.lease_id), HEX(p.hold_id), HEX(h.client_id),
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), p.weight, NULL, p.token,
       NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
JOIN rowlock_permit AS p ON p.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE FIND_IN_SET(a.n, @rowlock_taken) > 0
ORDER BY part, n, ticket, token;
