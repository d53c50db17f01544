-- name: find
-- A hold or waiter whose lease is missing is dead, so it is absent. takeover_us is that of the first lease in the
-- way: the exclusive holder's, or else of the permits and of the first waiter. A lease that is too long counts as due.
-- takeover_us takes a look at all permits, so it is read only if ?3 is true and ?2 is not the hold of a live permit.
SELECT (k.hold_id IS ?2 AND h.id IS NOT NULL) OR pl.id IS NOT NULL AS held,
       coalesce(p.token, k.token) AS token, coalesce(p.lease_id, k.lease_id) AS lease_id,
       w.id AS queued_lease_id,
       CASE WHEN pl.id IS NOT NULL OR NOT ?3 THEN NULL
            WHEN k.lease_id IS NOT NULL
            THEN iif(h.expires_at <= :now_us + 2000 * h.ttl_ms, h.expires_at - :now_us, 0)
            ELSE min(coalesce((SELECT min(iif(l.expires_at <= :now_us + 2000 * l.ttl_ms,
                                              l.expires_at - :now_us, 0))
                                 FROM rowlock_permit s
                                 LEFT JOIN rowlock_lease l ON l.id = s.lease_id
                                WHERE s.name = k.name AND k.kind <> 'latch'), 0),
                     coalesce((SELECT iif(l.expires_at <= :now_us + 2000 * l.ttl_ms,
                                          l.expires_at - :now_us, 0)
                                 FROM rowlock_queue f
                                 LEFT JOIN rowlock_lease l ON l.id = f.lease_id
                                WHERE f.name = k.name
                                ORDER BY f.ticket
                                LIMIT 1), :never_us))
       END AS takeover_us,
       k.kind, k.capacity, k.has_queue, k.in_use, k.fair,
       coalesce(k.request_token >= coalesce(p.token, k.token), 0) AS is_asked_for
  FROM rowlock_lock k
  LEFT JOIN rowlock_lease h ON h.id = k.lease_id
  LEFT JOIN rowlock_permit p ON p.name = k.name AND p.hold_id = ?2
  LEFT JOIN rowlock_lease pl ON pl.id = p.lease_id
  LEFT JOIN rowlock_queue q ON q.name = k.name AND q.hold_id = ?2
  LEFT JOIN rowlock_lease w ON w.id = q.lease_id
 WHERE k.name = ?1;

-- name: queue
SELECT q.ticket, q.hold_id, q.lease_id, q.weight, q.mode,
       l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms, l.username, l.program,
       l.expires_at - :now_us AS expires_time
  FROM rowlock_queue q
  LEFT JOIN rowlock_lease l ON l.id = q.lease_id
 WHERE q.name = ?1
 ORDER BY q.ticket;

-- name: waited_for
SELECT DISTINCT name FROM rowlock_queue ORDER BY name;

-- name: data_version
PRAGMA data_version;
