-- $1 idle time in milliseconds, $2 limit. Locks what may go, and remembers it. The row of meta is held already.
-- Kinds of a later version are left to it.
SELECT set_config('rowlock.rows', coalesce(array_agg(name), '{}')::text, true)
FROM (
  SELECT name
  FROM rowlock_lock
  WHERE kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
    AND lease_id IS NULL AND in_use = 0 AND NOT has_queue
    AND used_at <= clock_timestamp() - $1::bigint * interval '1 millisecond'
  ORDER BY name
  LIMIT $2::bigint
  FOR UPDATE SKIP LOCKED
) AS taken;
