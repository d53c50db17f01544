-- Puts a waiter behind the holder of queue_take's lock: $1 name, $2 lease, $3 hold, $4 skew in microseconds. The row is
-- held since an earlier statement. A holder that is dead or expired, and a waiter that the lock knows already, are left
-- to an edit. A place in the queue need not be on disk.
WITH counted AS (
  UPDATE rowlock_lock AS l
  SET next_ticket = l.next_ticket + 1,
      has_queue = true
  FROM rowlock_lease AS h
  WHERE l.name = $1::text
    AND current_setting('rowlock.taken', true) = $3::text
    AND l.hold_id <> $3::text::uuid
    AND h.id = l.lease_id
    AND h.expires_at + $4::bigint * interval '1 microsecond' > clock_timestamp()
    AND NOT EXISTS (SELECT FROM rowlock_queue AS q WHERE q.name = $1::text AND q.hold_id = $3::text::uuid)
  RETURNING l.next_ticket - 1 AS ticket, l.capacity, h.expires_at
), entered AS (
  INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight)
  SELECT $1::text, ticket, $3::text::uuid, $2::uuid, capacity FROM counted
)
SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint,
       set_config('synchronous_commit', 'off', true)
FROM counted;
