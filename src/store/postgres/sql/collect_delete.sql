-- The rows are held, and with them their queues and permits.
DELETE FROM rowlock_lock AS l
USING rowlock_meta AS m
WHERE l.name = ANY (current_setting('rowlock.rows')::text[])
  AND m.id = 1
  AND l.token <= m.token_floor
  AND l.lease_id IS NULL
  AND l.in_use = 0
  AND NOT l.has_queue
  AND NOT EXISTS (SELECT FROM rowlock_queue AS q WHERE q.name = l.name AND q.ticket >= l.head_ticket)
  AND NOT EXISTS (SELECT FROM rowlock_permit AS p WHERE p.name = l.name);
