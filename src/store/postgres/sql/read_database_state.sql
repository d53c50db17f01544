-- What tells whether the database is still the one that it was.
SELECT (SELECT system_identifier FROM pg_control_system()) || '/'
         || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS identity,
       m.identity AS recorded_identity,
       m.epoch_floor,
       coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker,
       m.skew_ms
FROM rowlock_meta AS m
WHERE m.id = 1;
