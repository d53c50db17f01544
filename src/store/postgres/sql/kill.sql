-- $1 leases, $2 skew in microseconds. A row that somebody holds is being renewed or killed: it is skipped.
-- Where meta does not name this server nobody is killed: its clock may be another one. The clock that decides is read
-- after the rows are held, as in renew.
WITH world AS MATERIALIZED (
  SELECT id
  FROM rowlock_meta
  WHERE id = 1
    AND identity = (SELECT system_identifier FROM pg_control_system()) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT id
  FROM rowlock_lease
  WHERE (SELECT count(*) FROM world) = 1
    AND id = ANY ($1::uuid[]) AND expires_at + $2::bigint * interval '1 microsecond' <= clock_timestamp()
  ORDER BY id
  FOR UPDATE SKIP LOCKED
),
held AS MATERIALIZED (
  SELECT array_agg(id) AS ids, clock_timestamp() AS now FROM taken
)
DELETE FROM rowlock_lease AS l
USING held
WHERE l.id = ANY (held.ids) AND l.expires_at + $2::bigint * interval '1 microsecond' <= held.now
RETURNING l.id;
