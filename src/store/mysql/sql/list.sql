-- Every lock with its living holder and the number of its living waiters.
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, HEX(l.lease_id), HEX(l.hold_id), l.has_queue,
       (SELECT COUNT(*)
        FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
        WHERE q.name = l.name) AS waiters,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, l.used_at, SYSDATE(6)) / 1000) AS held_ms,
       HEX(h.id), HEX(h.client_id), h.host, h.pid, h.application, h.ttl_ms,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) / 1000) AS expires_ms
FROM rowlock_lock AS l
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
ORDER BY l.name;
