-- Records this server. The row is held.
UPDATE rowlock_meta
SET identity = (SELECT system_identifier FROM pg_control_system()) || '/'
               || left(pg_walfile_name(pg_current_wal_lsn()), 8)
WHERE id = 1;
