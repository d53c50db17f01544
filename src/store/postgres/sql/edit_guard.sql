-- Which of those no guarded transaction holds: only there may the exclusive grant be replaced, and no permit is guarded.
SELECT set_config('rowlock.replaceable', coalesce(array_agg(name), '{}')::text, true)
FROM (
  SELECT name
  FROM rowlock_lock
  WHERE name = ANY (current_setting('rowlock.rows')::text[])
  ORDER BY name
  FOR UPDATE SKIP LOCKED
) AS free;
