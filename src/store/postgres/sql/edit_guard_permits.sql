-- Of the others' permits those that no guarded transaction holds, and that none can take before this one ends.
SELECT set_config('rowlock.loose', coalesce(array_agg(hold_id), '{}')::text, true)
FROM (
  SELECT hold_id
  FROM rowlock_permit
  WHERE name = ANY (ARRAY (
    SELECT unnest(current_setting('rowlock.rows')::text[])
    EXCEPT
    SELECT unnest(current_setting('rowlock.replaceable')::text[])
  ))
  FOR UPDATE SKIP LOCKED
) AS free;
