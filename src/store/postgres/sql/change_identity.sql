-- Records this server and raises the epoch, where another one is recorded. Minutes count from 2026-01-01, so
-- that two standbys promoted from one primary differ.
UPDATE rowlock_meta
SET identity = (SELECT system_identifier FROM pg_control_system()) || '/'
               || left(pg_walfile_name(pg_current_wal_lsn()), 8),
    epoch = greatest(epoch + 1,
                     floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') / 60)::bigint)
WHERE id = 1
  AND identity <> (SELECT system_identifier FROM pg_control_system()) || '/'
                  || left(pg_walfile_name(pg_current_wal_lsn()), 8);
