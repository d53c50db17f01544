-- As find, for a single hold: $1 name, $2 hold.
SELECT 1 AS n,
       l.hold_id = $2::uuid AND h.id IS NOT NULL AS held,
       l.token,
       l.lease_id,
       (SELECT w.id
        FROM rowlock_queue AS q
        JOIN rowlock_lease AS w ON w.id = q.lease_id
        WHERE l.has_queue AND q.name = $1::text AND q.hold_id = $2::uuid) AS queued_lease_id,
       CASE WHEN h.id IS NULL THEN 0
            ELSE (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint
       END AS takeover_us,
       l.kind,
       l.capacity,
       l.has_queue
FROM rowlock_lock AS l
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE l.name = $1::text;
