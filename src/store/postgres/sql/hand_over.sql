-- Grants the lock of hand_take to the head of its queue: $1 name, $2 the hold that ends, $3 skew in microseconds. The
-- row is held since an earlier statement, and a queue changes only under its row, so what is read here is current. A
-- head that is dead, expired or shared, and another world, are left to an edit. Remembers what it did for the statements
-- that follow, beyond the commit.
UPDATE rowlock_lock AS l
SET lease_id = q.lease_id,
    hold_id = q.hold_id,
    token = greatest(l.token + 1, m.epoch_floor),
    head_ticket = q.ticket + 1,
    has_queue = EXISTS (SELECT FROM rowlock_queue AS r WHERE r.name = $1::text AND r.ticket > q.ticket),
    used_at = clock_timestamp()
FROM rowlock_queue AS q, rowlock_lease AS h, rowlock_meta AS m
WHERE l.name = $1::text
  AND current_setting('rowlock.taken', true) = $2::text
  AND q.name = $1::text
  AND q.ticket = (
    SELECT ticket FROM rowlock_queue WHERE name = $1::text AND ticket >= l.head_ticket ORDER BY ticket LIMIT 1
  )
  AND q.mode = 'exclusive'
  AND h.id = q.lease_id
  AND h.expires_at + $3::bigint * interval '1 microsecond' > clock_timestamp()
  AND m.id = 1
  AND m.identity = current_setting('rowlock.system', true) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
RETURNING set_config('rowlock.handed',
                     concat_ws(' ', $2::text, l.hold_id, replace(h.client_id::text, '-', ''), l.token, l.has_queue),
                     false);
