CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    INTEGER NOT NULL PRIMARY KEY,
  title      TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at TEXT    NOT NULL
);
