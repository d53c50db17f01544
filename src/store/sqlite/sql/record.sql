INSERT INTO rowlock_migration (version, title, checksum, applied_at)
VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));
