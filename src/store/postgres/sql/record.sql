-- $1 version, $2 title, $3 checksum.
INSERT INTO rowlock_migration (version, title, checksum)
VALUES ($1::integer, $2::text, $3::text)
ON CONFLICT (version)
DO UPDATE SET title = excluded.title, checksum = excluded.checksum, applied_at = clock_timestamp();
