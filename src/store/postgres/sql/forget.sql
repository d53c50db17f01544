-- $1 version.
DELETE FROM rowlock_migration WHERE version = $1::integer;
