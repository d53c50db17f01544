-- $1 name.
SELECT q.ticket, q.hold_id, q.lease_id, q.weight, q.mode, w.id, w.client_id, w.host, w.pid, w.application, w.ttl_ms,
       (extract(epoch FROM w.expires_at - clock_timestamp()) * 1000)::bigint AS expires_ms
FROM rowlock_lock AS l
JOIN rowlock_queue AS q ON q.name = l.name AND q.ticket >= l.head_ticket
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE l.name = $1::text
ORDER BY q.ticket;
