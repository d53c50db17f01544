-- Reads what an edit decides from, after its rows are held. $1 names, $2 holds asked about.
-- part 0: the lock and its holder's lease; 1: the head of its queue; 2: the waiter that was asked about; 3: its
-- permits.
WITH asked AS MATERIALIZED (
  SELECT a.n,
         a.name,
         a.about,
         a.name = ANY (current_setting('rowlock.rows')::text[]) AS taken,
         a.name = ANY (current_setting('rowlock.replaceable')::text[]) AS replaceable
  FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS a (name, about, n)
),
world AS MATERIALIZED (
  SELECT epoch_floor,
         identity = (SELECT system_identifier FROM pg_control_system()) || '/'
                    || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS is_recorded_server
  FROM rowlock_meta
  WHERE id = 1
)
SELECT 0 AS part, a.n, l.next_ticket AS ticket, l.lease_id, l.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint AS expires_us,
       NULL::bigint AS weight, NULL::text AS mode, l.token,
       l.name IS NOT NULL AS found, a.taken, a.replaceable,
       l.kind, l.capacity, l.in_use, l.has_queue, l.fair, l.delay_ms, w.epoch_floor, w.is_recorded_server, l.head_ticket
FROM asked AS a
CROSS JOIN world AS w
LEFT JOIN rowlock_lock AS l ON l.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
UNION ALL
SELECT 1, a.n, q.ticket, q.lease_id, q.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint,
       q.weight, q.mode, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
JOIN rowlock_lock AS l ON l.name = a.name
CROSS JOIN LATERAL (
  SELECT ticket, lease_id, hold_id, weight, mode
  FROM rowlock_queue
  WHERE name = a.name AND ticket >= l.head_ticket
  ORDER BY ticket
  LIMIT 65
) AS q
LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id
WHERE a.taken
UNION ALL
SELECT 2, a.n, q.ticket, q.lease_id, q.hold_id, NULL, NULL,
       q.weight, q.mode, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
CROSS JOIN LATERAL (
  SELECT ticket, lease_id, hold_id, weight, mode
  FROM rowlock_queue
  WHERE name = a.name AND hold_id = a.about
  OFFSET 0
) AS q
WHERE a.taken
UNION ALL
SELECT 3, a.n, NULL, p.lease_id, p.hold_id, h.client_id,
       (extract(epoch FROM h.expires_at - clock_timestamp()) * 1000000)::bigint,
       p.weight, NULL, p.token,
       NULL, NULL, a.replaceable OR p.hold_id = ANY (current_setting('rowlock.loose')::uuid[]),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM asked AS a
JOIN rowlock_permit AS p ON p.name = a.name
LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE a.taken
ORDER BY part, n, ticket, token;
