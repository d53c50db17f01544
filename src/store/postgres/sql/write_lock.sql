-- $1 names and the values of their rows, all of which this transaction holds; $10 whether the holder is new.
UPDATE rowlock_lock AS l
SET kind = c.kind,
    capacity = c.capacity,
    in_use = c.in_use,
    token = c.token,
    next_ticket = c.next_ticket,
    lease_id = c.lease_id,
    hold_id = c.hold_id,
    has_queue = c.has_queue,
    used_at = CASE WHEN c.granted THEN clock_timestamp() ELSE l.used_at END
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[], $8::uuid[],
            $9::boolean[], $10::boolean[])
  AS c (name, kind, capacity, in_use, token, next_ticket, lease_id, hold_id, has_queue, granted)
WHERE l.name = c.name;
