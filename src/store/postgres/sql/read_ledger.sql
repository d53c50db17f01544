SELECT version, title, checksum, to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS applied_at
FROM rowlock_migration
ORDER BY version;
