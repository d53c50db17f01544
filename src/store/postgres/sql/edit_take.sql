-- $1 names. Locks what nobody else has locked, and remembers it for the statements of this transaction.
-- NO KEY UPDATE lives with the FOR KEY SHARE of a guarded transaction: a waiter can enter the queue beside it.
SELECT set_config('rowlock.rows', coalesce(array_agg(name), '{}')::text, true)
FROM (
  SELECT name FROM rowlock_lock WHERE name = ANY ($1::text[]) ORDER BY name FOR NO KEY UPDATE SKIP LOCKED
) AS taken;
