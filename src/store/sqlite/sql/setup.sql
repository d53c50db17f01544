-- name: schema_state
SELECT schema_version, min_library FROM rowlock_meta WHERE id = 1;

-- name: has_table
-- name: has_ledger
SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1;

-- name: live_leases
SELECT count(*)
  FROM rowlock_lease
 WHERE expires_at > :now_us;

-- name: create_ledger
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    INTEGER NOT NULL PRIMARY KEY,
  title      TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at TEXT    NOT NULL
);

-- name: read_ledger
SELECT version, title, checksum, applied_at FROM rowlock_migration ORDER BY version;

-- name: record
INSERT INTO rowlock_migration (version, title, checksum, applied_at)
VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));

-- name: forget
DELETE FROM rowlock_migration WHERE version = ?1;

-- name: describe
SELECT m.name AS table_name, c.name AS column_name, c.type AS column_type, c."notnull" AS not_null
  FROM sqlite_master m
  JOIN pragma_table_xinfo(m.name) c
 WHERE m.type = 'table'
   AND m.name IN ('rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_marker', 'rowlock_meta',
                  'rowlock_recording', 'rowlock_history')
 ORDER BY 1, 2;
