-- As list, for one lock: $1 name.
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, l.lease_id, l.hold_id, l.has_queue,
       l.fair, l.delay_ms,
       l.waiters,
       h.id, h.client_id, h.host, h.pid, h.application, h.ttl_ms,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000)::bigint AS expires_ms,
       (extract(epoch FROM clock_timestamp() - g.since) * 1000)::bigint AS held_ms,
       g.hold_id, g.weight, g.mode, g.token, l.value, l.request_token,
       greatest((extract(epoch FROM l.request_until - clock_timestamp()) * 1000)::bigint, 0), l.request_reason
FROM (
  SELECT k.*,
         (SELECT count(*)
          FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
          WHERE q.name = k.name AND q.ticket >= k.head_ticket) AS waiters
  FROM rowlock_lock AS k
  WHERE k.name = $1::text
  OFFSET 0
) AS l
LEFT JOIN LATERAL (
  SELECT l.hold_id, l.lease_id, l.capacity AS weight, 'exclusive' AS mode, l.token, l.used_at AS since
  WHERE l.lease_id IS NOT NULL
  UNION ALL
  SELECT p.hold_id, p.lease_id, p.weight, 'shared', p.token, p.granted_at
  FROM rowlock_permit AS p
  WHERE p.name = l.name
) AS g ON true
LEFT JOIN rowlock_lease AS h ON h.id = g.lease_id
ORDER BY g.token;
