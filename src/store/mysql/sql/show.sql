-- As list, for one lock: :name.
SELECT l.name, l.kind, l.capacity, l.in_use, l.token, l.next_ticket, HEX(l.lease_id), HEX(l.hold_id), l.has_queue,
       l.fair, l.delay_ms,
       COALESCE(c.waiters, 0),
       HEX(h.id), HEX(h.client_id), h.host, h.pid, h.application, h.ttl_ms,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) / 1000) AS expires_ms,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, g.since, SYSDATE(6)) / 1000) AS held_ms,
       HEX(g.hold_id), g.weight, g.mode, g.token, l.value, l.request_token,
       GREATEST(FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.request_until) / 1000), 0) AS request_ms,
       l.request_reason
FROM rowlock_lock AS l
LEFT JOIN (
  SELECT k.name, k.hold_id, k.lease_id, k.capacity AS weight, 'exclusive' AS mode, k.token, k.used_at AS since
  FROM rowlock_lock AS k
  WHERE k.lease_id IS NOT NULL AND k.name = :name
  UNION ALL
  SELECT p.name, p.hold_id, p.lease_id, p.weight, 'shared', p.token, p.granted_at
  FROM rowlock_permit AS p
  WHERE p.name = :name
) AS g ON g.name = l.name
LEFT JOIN rowlock_lease AS h ON h.id = g.lease_id
LEFT JOIN (
  SELECT k.name, COUNT(*) AS waiters
  FROM rowlock_lock AS k
  JOIN rowlock_queue AS q ON q.name = k.name AND q.ticket >= k.head_ticket
  JOIN rowlock_lease AS w ON w.id = q.lease_id
  WHERE k.name = :name
  GROUP BY k.name
) AS c ON c.name = l.name
WHERE l.name = :name
ORDER BY g.token;
