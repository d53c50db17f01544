-- Every lock with the number of its living waiters, which is counted once a lock and not once a holder: a row for each
-- holder, and one where there is none.
SELECT k.name, k.kind, k.capacity, k.in_use, k.token, k.next_ticket, k.lease_id, k.hold_id, k.has_queue,
       k.fair, k.delay_ms,
       coalesce(c.waiters, 0),
       l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms,
       l.expires_at - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER),
       CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) - g.since,
       g.hold_id, g.weight, g.mode, g.token, k.value, k.request_token,
       max(k.request_until - CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), 0), k.request_reason
  FROM rowlock_lock k
  LEFT JOIN (SELECT name, hold_id, lease_id, capacity AS weight, 'exclusive' AS mode, token, used_at AS since
               FROM rowlock_lock
              WHERE lease_id IS NOT NULL
              UNION ALL
             SELECT name, hold_id, lease_id, weight, 'shared', token, granted_at
               FROM rowlock_permit) g ON g.name = k.name
  LEFT JOIN rowlock_lease l ON l.id = g.lease_id
  LEFT JOIN (SELECT q.name, count(*) AS waiters
               FROM rowlock_queue q
               JOIN rowlock_lease w ON w.id = q.lease_id
              GROUP BY q.name) c ON c.name = k.name
 ORDER BY k.name, g.token;
