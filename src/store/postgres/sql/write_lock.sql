-- $1 names and the values of their rows, all of which this transaction holds; $9 whether the holder is new, $10 the head
-- of its queue.
-- A lock keeps its kind.
UPDATE rowlock_lock AS l
SET capacity = c.capacity,
    in_use = c.in_use,
    token = c.token,
    next_ticket = c.next_ticket,
    lease_id = c.lease_id,
    hold_id = c.hold_id,
    has_queue = c.has_queue,
    head_ticket = c.head_ticket,
    used_at = CASE WHEN c.granted THEN clock_timestamp() ELSE l.used_at END
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::uuid[], $8::boolean[],
            $9::boolean[], $10::bigint[])
  AS c (name, capacity, in_use, token, next_ticket, lease_id, hold_id, has_queue, granted, head_ticket)
WHERE l.name = c.name;
