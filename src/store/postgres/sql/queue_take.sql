-- $1 name, $2 kind, $3 capacity, $4 hold, $5 fairness. Locks what exists as asked and is held, and remembers that it
-- did; see hand_take. NO KEY UPDATE lives with the FOR KEY SHARE of a guarded transaction.
SELECT set_config('rowlock.taken', $4::text, true)
FROM (
  SELECT
  FROM rowlock_lock
  WHERE name = $1::text AND kind = $2::text AND capacity = $3::bigint AND fair = $5::boolean
    AND lease_id IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED
) AS taken;
