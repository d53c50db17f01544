DELETE FROM rowlock_migration WHERE version = ?1;
