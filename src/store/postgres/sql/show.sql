-- As list, for one lock: $1 name.
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, l.lease_id, l.hold_id, l.has_queue,
       (SELECT count(*)
        FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
        WHERE q.name = l.name) AS waiters,
       (extract(epoch FROM clock_timestamp() - l.used_at) * 1000)::bigint AS held_ms,
       h.id, h.client_id, h.host, h.pid, h.application, h.ttl_ms,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint AS expires_ms
FROM rowlock_lock AS l
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE l.name = $1::text;
