SELECT q.ticket, HEX(q.hold_id), HEX(q.lease_id), q.weight, q.mode,
       HEX(w.id), HEX(w.client_id), w.host, w.pid, w.application, w.ttl_ms,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), w.expires_at) / 1000) AS expires_ms
FROM rowlock_queue AS q
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name = :name
ORDER BY q.ticket;
