SELECT version, title, checksum, DATE_FORMAT(applied_at, '%Y-%m-%dT%H:%i:%sZ') FROM rowlock_migration ORDER BY version;
