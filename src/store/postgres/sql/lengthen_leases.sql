-- On another server than the recorded one, whose clock may be ahead: gives every lease the longest ttl more.
-- Holds the row of meta, so its identity cannot change here.
WITH moved AS MATERIALIZED (
  SELECT identity
  FROM rowlock_meta
  WHERE id = 1
    AND identity <> (SELECT system_identifier FROM pg_control_system()) || '/'
                    || left(pg_walfile_name(pg_current_wal_lsn()), 8)
),
taken AS MATERIALIZED (
  SELECT id
  FROM rowlock_lease
  WHERE (SELECT count(*) FROM moved) = 1
  ORDER BY id
  FOR NO KEY UPDATE
)
UPDATE rowlock_lease AS l
SET expires_at = l.expires_at + (SELECT max(ttl_ms) FROM rowlock_lease) * interval '1 millisecond'
FROM taken AS t
WHERE l.id = t.id;
