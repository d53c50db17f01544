SELECT version, title, checksum, applied_at FROM rowlock_migration ORDER BY version;
