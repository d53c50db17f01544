-- The migrator's own table: not of the migration files, for those run without it too.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    integer     NOT NULL,
  title      text        NOT NULL,
  checksum   text        NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (version)
);
