-- $1 name, $2 lease, $3 hold. Locks a mutex, shared_mutex or election that is held as said and waited for, and remembers
-- that it did. FOR UPDATE is refused by the FOR KEY SHARE of a guarded transaction: such a row is skipped and its hold
-- stands. The row is locked in a sub-query, for what stands beside FOR UPDATE is evaluated before the lock is taken.
SELECT set_config('rowlock.taken', $3::text, true)
FROM (
  SELECT
  FROM rowlock_lock
  WHERE name = $1::text AND lease_id = $2::uuid AND hold_id = $3::text::uuid AND has_queue
    AND kind IN ('mutex', 'shared_mutex', 'election')
  FOR UPDATE SKIP LOCKED
) AS taken;
