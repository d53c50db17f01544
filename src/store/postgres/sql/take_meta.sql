-- Lets one transaction at a time decide about the world; the statements after this one see what the one before it did.
SELECT identity <> (SELECT system_identifier FROM pg_control_system()) || '/'
                   || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS moved,
       epoch_floor,
       floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00'))::bigint AS now_s
FROM rowlock_meta
WHERE id = 1
FOR UPDATE;
