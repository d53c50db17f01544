-- $1 leases. Answers what read_database_state answers, with one row for each lease that was renewed and one row in any case.
-- The clock is read after all rows are held, whatever the plan: it stands behind an aggregate of the locking
-- step. (The server does not check a WHERE again when the locker that it waited for rolled back.)
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
),
held AS MATERIALIZED (
  SELECT array_agg(id) AS ids, clock_timestamp() AS now FROM taken
),
renewed AS (
  UPDATE rowlock_lease AS l
  SET expires_at = held.now + l.ttl_ms * interval '1 millisecond'
  FROM held
  WHERE l.id = ANY (held.ids) AND l.expires_at > held.now
  RETURNING l.id, l.notice
)
SELECT (SELECT system_identifier FROM pg_control_system()) || '/'
         || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS identity,
       m.identity AS recorded_identity,
       m.epoch_floor,
       coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker,
       m.skew_ms,
       r.id,
       r.notice
FROM rowlock_meta AS m
LEFT JOIN renewed AS r ON true
WHERE m.id = 1;
