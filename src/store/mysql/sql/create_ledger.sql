-- The migrator's own table: not of the migration files, for those run without it too.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version    INT            NOT NULL,
  title      VARBINARY(255) NOT NULL,
  checksum   VARBINARY(64)  NOT NULL,
  applied_at DATETIME       NOT NULL,
  PRIMARY KEY (version)
) ENGINE = InnoDB;
