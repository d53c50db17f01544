DELETE FROM rowlock_migration WHERE version = :version;
